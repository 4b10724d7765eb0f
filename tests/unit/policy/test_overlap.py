"""What makes one turn, and how long to wait for it (H-21, H-22, H-37)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.overlap import Waiting, join_count, settle_delay
from tests.unit.policy.samples import NOON

LIMIT = 4096


def said(at: float = 0.0, **changes: Any) -> Waiting:
    """Return a short text of Mira, ``at`` seconds after noon."""
    defaults: dict[str, Any] = {
        "sender_key": "telegram:700100200",
        "thread": None,
        "joinable": True,
        "command": False,
        "album": None,
        "length": 12,
        "received_at": NOON + timedelta(seconds=at),
    }
    return Waiting(**{**defaults, **changes})


OTHER = {"sender_key": "telegram:700100201"}
COMMAND = {"command": True}
LINE = {"joinable": False}
TOPIC = {"thread": "55"}


@pytest.mark.parametrize(
    ("waiting", "count"),
    [
        ([], 0),
        ([{}], 1),
        ([{}, {}, {}], 3),
        ([{}, OTHER, {}], 1),
        ([OTHER, {}, {}], 1),
        ([{}, {}, TOPIC], 2),
        ([TOPIC, TOPIC], 2),
        ([{}, COMMAND, {}], 1),
        ([COMMAND, {}], 1),
        ([COMMAND, COMMAND], 1),
        ([LINE, LINE], 1),
        ([{}, LINE], 1),
        ([{"album": "g1"}, {}, {"album": "g1"}], 3),
    ],
)
def test_consecutive_messages_of_one_sender_are_one_turn(
    waiting: list[dict[str, Any]], count: int
) -> None:
    assert join_count([said(**each) for each in waiting]) == count


@given(st.lists(st.sampled_from([{}, OTHER, TOPIC, COMMAND, LINE]), max_size=12))
def test_every_message_gets_its_turn_in_order(kinds: list[dict[str, Any]]) -> None:
    waiting = [said(index, **each) for index, each in enumerate(kinds)]
    turns: list[list[Waiting]] = []
    left = waiting
    while left:
        count = join_count(left)
        assert count >= 1
        turns.append(left[:count])
        left = left[count:]
    assert [each for turn in turns for each in turn] == waiting
    for turn in turns:
        assert len({(each.sender_key, each.thread) for each in turn}) == 1
        assert len(turn) == 1 or all(each.joinable and not each.command for each in turn)


def delay(waiting: list[Waiting], at: float, paste_limit: int = LIMIT) -> float:
    return settle_delay(waiting, NOON + timedelta(seconds=at), paste_limit=paste_limit)


@pytest.mark.parametrize(
    ("waiting", "at", "seconds"),
    [
        ([], 0, 0.0),
        ([said()], 0, 0.0),
        ([said(), said(0.1)], 0.1, 0.0),
        ([said(length=2000)], 0, 0.0),
        ([said(length=LIMIT)], 0, 2.0),
        ([said(length=LIMIT)], 0.5, 1.5),
        ([said(length=LIMIT)], 9, 0.0),
        ([said(length=2566)], 0, 1.5),
        ([said(length=LIMIT), said(0.9, length=LIMIT)], 0.9, 2.0),
        ([said(length=LIMIT), said(0.9, length=LIMIT), said(1.6, length=312)], 1.6, 0.0),
        ([said(album="g1")], 0, 1.0),
        ([said(album="g1"), said(0.5, album="g1")], 0.75, 0.75),
        ([said(length=LIMIT, **COMMAND)], 0, 0.0),
        ([said(length=LIMIT, **LINE)], 0, 0.0),
        ([said(length=LIMIT), said(0.1, **OTHER)], 0.1, 0.0),
        ([said(length=LIMIT)], -60, 2.0),  # the clock was set back
    ],
)
def test_waiting_for_the_rest(waiting: list[Waiting], at: float, seconds: float) -> None:
    assert delay(waiting, at) == pytest.approx(seconds)


def test_where_pastes_are_never_cut_only_albums_wait() -> None:
    assert delay([said(length=10**6)], 0, paste_limit=0) == 0.0
    assert delay([said(album="g1")], 0, paste_limit=0) == 1.0


def test_an_endless_paste_is_not_waited_for() -> None:
    pieces = [said(second, length=LIMIT) for second in range(8)]
    delays = [delay(pieces[: each + 1], each) for each in range(8)]
    assert delays == [2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 0.0, 0.0]
