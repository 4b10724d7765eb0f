"""Under which names files that the agent sends are kept, and found again."""

from __future__ import annotations

from gateway.model.ids import TurnId
from gateway.policy.documents import marked, stored_name

TURN = TurnId("t_1")


def test_the_name_on_the_disk_is_ours_and_the_same_again() -> None:
    name = stored_name(TURN, 0, "计划.md")
    assert name == stored_name(TURN, 0, "计划.md")
    assert name != stored_name(TURN, 1, "计划.md")
    stem, _, kind = name.partition(".")
    assert (len(stem), kind) == (32, "md")
    assert stored_name(TURN, 0, "odd.é/x").endswith(".bin")


def test_a_part_is_found_again_by_its_name() -> None:
    assert marked("plan.md", "t_1:2") == marked("plan.md", "t_1:2") != marked("plan.md", "t_1:3")
    assert marked("plan.md", "t_1:2").startswith("plan-")
    assert marked("plan.md", "t_1:2").endswith(".md")
