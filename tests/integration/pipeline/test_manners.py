"""How much one account may say: people by a rate, other bots by a brake."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from gateway.text import catalog
from tests.fakes.household import GROUP, MIRA, TOBIAS
from tests.integration.pipeline.support import House, mention

if TYPE_CHECKING:
    from collections.abc import Iterable

CANARY = "Xylophonwald"
BOT_ID, SECOND_BOT = 999, 998
NOW = int(time.time()) // 60 * 60 - 120
TOO_FAST = catalog.text("too_fast", "en", n=3)


def limited(house: House, per_minute: int = 3, **access: Any) -> None:
    house.configure(access={"rate": {"per_minute": per_minute}, **access})


def say(
    house: House, seconds: Iterable[int], *, user: int = MIRA, chat: int = MIRA, word: str = "at"
) -> None:
    """Write once at each of these moments, which are seconds of one minute and the next ones."""
    for second in seconds:
        house.tg.say(f"{word} {second}", user=user, chat=chat, date=NOW + second)


async def test_over_the_rate_nothing_is_read_and_it_is_said_once(house: House) -> None:
    limited(house)
    async with house.running():
        say(house, range(3))
        await house.taken()
        say(house, range(3, 9), word=CANARY)
        await house.settled()
        assert CANARY.encode() not in house.stored_bytes()
    assert house.words() == ["at 0", "at 1", "at 2"]
    assert house.texts().count(TOO_FAST) == 1
    assert house.reasons()[3:] == ["rate"] * 6


@pytest.mark.parametrize(("second", "admitted"), [(59, False), (60, True), (61, True)])
async def test_the_minute_slides(house: House, second: int, admitted: bool) -> None:
    limited(house)
    async with house.running():
        say(house, [0, 1, 2, second])
        await house.settled()
    assert (f"at {second}" in house.words()) is admitted


async def test_a_minute_later_it_is_said_again(house: House) -> None:
    limited(house)
    async with house.running():
        say(house, [0, 1, 2, 3, 60, 61, 62, 63, 64])
        await house.settled()
    assert house.texts().count(TOO_FAST) == 2


async def test_a_restart_forgets_nothing(house: House) -> None:
    limited(house)
    async with house.running():
        say(house, range(3))
        await house.settled()
    async with house.running():
        say(house, [4])
        await house.settled()
    assert house.words() == ["at 0", "at 1", "at 2"]


async def test_a_person_is_counted_over_all_places_and_alone(house: House) -> None:
    limited(house, open_places={"telegram": [str(GROUP)]})
    async with house.running():
        say(house, [0, 1])
        say(house, [2, 3], chat=GROUP, word=mention("at"))
        say(house, [4], user=TOBIAS, chat=TOBIAS)
        await house.settled()
    assert sorted(house.words()) == ["at 0", "at 1", "at 2", "at 4"]
    assert TOO_FAST in house.texts(GROUP)


async def test_a_backlog_counts_as_it_was_written(house: House) -> None:
    """H-22: an outage must not make a patient person a flood."""
    limited(house)
    say(house, range(0, 600, 20))
    async with house.running():
        await house.settled()
    assert len(house.words()) == 30
    assert TOO_FAST not in house.texts()


async def test_what_is_not_meant_for_us_does_not_count(house: House) -> None:
    limited(house)
    async with house.running():
        say(house, range(9), chat=GROUP)
        say(house, [10])
        await house.settled()
    assert house.words() == ["at 10"]


async def test_stop_always_works(house: House) -> None:
    limited(house)
    async with house.running():
        say(house, range(4))
        await house.settled()
        house.tg.say("/stop", user=MIRA, date=NOW + 5)
        house.tg.say("/status", user=MIRA, date=NOW + 5)
        await house.settled()
    assert house.texts()[-1] == catalog.text("stop.nothing", "en")
    assert house.reasons()[-2:] == ["", "rate"]


async def test_edits_over_the_rate_are_left_out_in_silence(house: House) -> None:
    limited(house)
    async with house.running():
        first = house.tg.say("at 0", user=MIRA, date=NOW)
        say(house, [1, 2])
        await house.taken()
        house.tg.edit(first, CANARY, chat=MIRA, date=NOW, edit_date=NOW + 3)
        await house.settled()
        assert TOO_FAST not in house.texts()
        assert CANARY.encode() not in house.stored_bytes()


def runs_of(house: House, word: str) -> int:
    """Return in how many turns something was said with a word."""
    return sum(any(word in text for text in run.texts) for run in house.agent.runs)


# --- other bots ------------------------------------------------------------------------------


def bots(house: House, policy: str) -> None:
    allowed = {"telegram": [str(MIRA), str(BOT_ID), str(SECOND_BOT)]}
    house.configure(access={"bots": policy, "allow": allowed, "rate": {"per_minute": 100}})
    for bot in (BOT_ID, SECOND_BOT):
        house.tg.user(bot, is_bot=True, first_name=f"Bot {bot}", username=f"b{bot}_bot")


@pytest.mark.parametrize("policy", ["mentions", "all"])
async def test_two_bots_stop_talking_to_each_other(house: House, policy: str) -> None:
    """H-43: five rounds are answered, and then none until there was silence for ten minutes."""
    bots(house, policy)
    async with house.running():
        say(house, range(0, 80, 10), user=BOT_ID, chat=GROUP, word=mention("at"))
        await house.settled()
        assert house.reasons() == [""] * 5 + [f"bot_brake:{BOT_ID}"] * 3
        say(house, range(100, 900, 100), user=BOT_ID, chat=GROUP, word=mention("still"))
        await house.settled()
        assert house.reasons()[5:] == [f"bot_brake:{BOT_ID}"] * 11
        say(house, [800 + 601], user=BOT_ID, chat=GROUP, word=mention("again"))
        await house.settled()
    assert house.reasons()[-1] == ""
    assert runs_of(house, "still") == 0
    assert runs_of(house, "again") == 1


async def test_the_brake_holds_one_bot_in_one_place(house: House) -> None:
    bots(house, "all")
    async with house.running():
        say(house, range(6), user=BOT_ID, chat=GROUP, word=mention("at"))
        say(house, [7], user=SECOND_BOT, chat=GROUP, word=mention("second"))
        say(house, [8], user=MIRA, chat=GROUP, word=mention("person"))
        await house.settled()
    assert runs_of(house, "second") == runs_of(house, "person") == 1
    assert house.reasons().count(f"bot_brake:{BOT_ID}") == 1
