"""Was the bot spoken to, and the brake between bots (H-43, H-44)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from gateway.policy.addressing import Addressed, Brake, Ground, addressed, brake
from tests.unit.policy.samples import (
    GROUP,
    NEW,
    NOON,
    REPLY_TO_BOT,
    REPLY_TO_OTHER,
    direct,
    event,
    group,
)

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.events import Place


def ask(
    place: Place,
    *,
    require_mention: bool = True,
    free: frozenset[str] = frozenset(),
    place_ids: frozenset[str] = frozenset(),
    **more: Any,
) -> Addressed:
    return addressed(
        event(place, **more),
        require_mention=require_mention,
        free_response=free,
        place_ids=place_ids,
    )


@pytest.mark.parametrize(
    ("place", "more", "yes", "reason"),
    [
        (direct(), {}, True, Ground.DIRECT),
        (group(), {"command": NEW}, True, Ground.COMMAND),
        (group(), {"mentions_bot": True}, True, Ground.MENTION),
        (group(), {"reply": REPLY_TO_BOT}, True, Ground.REPLY),
        (group(), {"reply": REPLY_TO_OTHER}, False, Ground.UNADDRESSED),
        (group(), {}, False, Ground.UNADDRESSED),
        (group(), {"text": "@brook_bot hi"}, False, Ground.UNADDRESSED),
        (group(), {"foreign_command": True}, False, Ground.FOREIGN_COMMAND),
        (group(), {"foreign_command": True, "mentions_bot": True}, False, Ground.FOREIGN_COMMAND),
        (direct(), {"foreign_command": True}, False, Ground.FOREIGN_COMMAND),
    ],
)
def test_addressed(place: Place, more: dict[str, Any], yes: bool, reason: Ground) -> None:
    assert ask(place, **more) == Addressed(yes, reason)


def test_where_no_mention_is_required() -> None:
    assert ask(group(), require_mention=False) == Addressed(True, Ground.NO_MENTION_NEEDED)
    found = ask(group(), require_mention=False, foreign_command=True)
    assert found == Addressed(False, Ground.FOREIGN_COMMAND)


@pytest.mark.parametrize(
    ("free", "place", "yes"),
    [
        (GROUP, group(), True),
        (f"telegram:{GROUP}", group(thread="55"), True),
        (f"discord:{GROUP}", group(), False),
        ("810", group("811", parent="810"), True),
        ("5550001112", group(), False),
        ("", group(), False),
    ],
)
def test_free_response_places(free: str, place: Place, yes: bool) -> None:
    assert ask(place, free=frozenset({free})).yes is yes


def test_a_moved_group_stays_free() -> None:
    found = ask(group("-100"), free=frozenset({"-4"}), place_ids=frozenset({"-4"}))
    assert found == Addressed(True, Ground.FREE_RESPONSE)


def minutes(*ages: float) -> list[datetime]:
    return [NOON - timedelta(minutes=age) for age in ages]


@pytest.mark.parametrize(
    ("ages", "found"),
    [
        ([], Brake.GO),
        ([1, 2], Brake.GO),
        ([1, 2, 3], Brake.STOP),
        ([1, 2, 3, 4], Brake.STOPPED),
        ([1, 2, 10], Brake.GO),
        ([10, 11, 12, 13], Brake.GO),
        ([-5, 1, 2], Brake.STOP),  # the clock was set back
    ],
)
def test_the_brake(ages: list[float], found: Brake) -> None:
    assert brake(minutes(*ages), NOON, rounds=3, window=timedelta(minutes=10)) is found


def test_two_bots_that_mention_each_other_fall_silent() -> None:
    told = [NOON + timedelta(seconds=20 * each) for each in range(50)]
    found = [brake(told[:each], told[each]) for each in range(50)]
    assert found == [Brake.GO] * 5 + [Brake.STOP] + [Brake.STOPPED] * 44
    assert brake(told, told[-1] + timedelta(minutes=10)) is Brake.GO
