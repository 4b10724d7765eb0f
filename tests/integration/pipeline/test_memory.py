"""The whole way: what is said reaches the memory service, and never holds back an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.emulators.honcho_proxy import ALWAYS, MESSAGES, HonchoProxy
from tests.fakes.household import MIRA

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.emulators.telegram import TelegramEmulator
    from tests.integration.pipeline.support import House


@pytest.fixture
async def dead() -> AsyncIterator[HonchoProxy]:
    """A memory service that a test makes fail; there is nothing behind it."""
    async with HonchoProxy("http://127.0.0.1:9") as proxy:
        yield proxy


def stored(house: House) -> list[tuple[str, str]]:
    """Return (peer, text) of what the embedded service has, in its order."""
    return house.rows("SELECT peer, content FROM memory_message ORDER BY id")


async def test_question_and_answer_reach_the_embedded_service(
    house: House, tg: TelegramEmulator
) -> None:
    tg.say("I moved to Graz", user=MIRA)
    async with house.running():
        await house.answers(1)
        await house.settled()
    assert stored(house) == [(str(MIRA), "I moved to Graz"), ("hermes", "re: I moved to Graz")]
    assert house.rows("SELECT last_seq, last_saved_index FROM session") == [(2, 2)]


async def test_with_saving_off_nothing_is_sent_on_any_path(
    house: House, tg: TelegramEmulator
) -> None:
    house.honcho(saveMessages=False)
    tg.say("keep this to yourself", user=MIRA)
    async with house.running():
        await house.answers(1)
        await house.settled()
    assert stored(house) == []
    assert house.live() == []


TROUBLE: dict[str, Callable[[HonchoProxy], None]] = {
    "never answers": lambda proxy: proxy.slow("", 3600, times=ALWAYS),
    "500": lambda proxy: proxy.refuse("", 500, times=ALWAYS),
    "401": lambda proxy: proxy.refuse("", 401, times=ALWAYS),
    "a page": lambda proxy: proxy.html("", times=ALWAYS),
    "resets": lambda proxy: proxy.reset_after(MESSAGES, times=ALWAYS),
}


@pytest.mark.parametrize("trouble", TROUBLE)
@pytest.mark.parametrize("frequency", ["async", "turn"])
async def test_a_service_in_trouble_holds_back_no_answer(
    house: House, tg: TelegramEmulator, dead: HonchoProxy, trouble: str, frequency: str
) -> None:
    """H-48."""
    TROUBLE[trouble](dead)
    house.configure(memory={"provider": "honcho"})
    house.honcho(baseUrl=dead.address, writeFrequency=frequency, recallMode="tools")
    async with house.running():
        for number in range(3):
            tg.say(f"message {number}", user=MIRA)
            await house.answers(number + 1)
        await house.until(
            lambda: house.column("SELECT state FROM turn") == ["settled"] * 3, "settled turns"
        )
    assert house.words() == [f"message {number}" for number in range(3)]
    states = house.column("SELECT DISTINCT state FROM ledger")
    assert set(states) <= {"due", "sending"}
    budget = 5.0 if frequency == "turn" else 0.0
    assert all(budget <= seconds <= budget + 2 for seconds in kept_open(house))


async def test_frequency_turn_settles_a_turn_once_memory_has_it(
    house: House, tg: TelegramEmulator
) -> None:
    house.honcho(writeFrequency="turn")
    tg.say("hello", user=MIRA)
    async with house.running():
        await house.answers(1)
        await house.settled()
    assert house.column("SELECT state FROM turn") == ["settled"]
    assert house.column("SELECT state FROM ledger") == ["saved", "saved"]
    assert len(house.column("SELECT id FROM item WHERE lane = 'settle'")) == 1


def kept_open(house: House) -> list[float]:
    """Return for each turn the seconds between its delivery and its end."""
    times: dict[str, dict[str, int]] = {}
    for turn, step, micros in house.rows("SELECT turn, step, at FROM checkpoint"):
        times.setdefault(turn, {})[step] = micros
    return [(each["settled"] - each["delivered"]) / 1e6 for each in times.values()]
