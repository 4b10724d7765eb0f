"""Who hears an answer decides what may go into it."""

from __future__ import annotations

import pytest

from gateway.policy.audience import HIDDEN_WHEN_SHARED, Audience, audience, visible

TOOLS = frozenset({"honcho_profile", "honcho_search", "honcho_context", "honcho_reasoning"})


@pytest.mark.parametrize(
    ("personal", "strict", "expected"),
    [
        (True, True, Audience.PERSONAL),
        (True, False, Audience.PERSONAL),
        (False, True, Audience.SHARED),
        (False, False, Audience.OPEN),
    ],
)
def test_audience(personal: bool, strict: bool, expected: Audience) -> None:
    assert audience(personal=personal, strict=strict) is expected


def test_only_a_strict_shared_place_is_limited() -> None:
    assert [each for each in Audience if each.limited] == [Audience.SHARED]


def test_a_shared_place_hides_the_tools_about_a_person() -> None:
    assert visible(TOOLS, Audience.SHARED) == {"honcho_search", "honcho_context"}
    assert visible(TOOLS, Audience.PERSONAL) == TOOLS
    assert visible(HIDDEN_WHEN_SHARED, Audience.SHARED) == frozenset()
