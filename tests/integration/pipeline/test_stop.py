"""``/stop``: at once, with what was written kept and nothing that waits lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.fakes.household import MIRA, TOBIAS

if TYPE_CHECKING:
    import pytest

    from tests.integration.pipeline.support import House

STOPPED = "UPDATE turn SET stop_requested = 1"


async def test_stop_ends_the_answer_at_once_and_keeps_what_was_written(house: House) -> None:
    house.agent.partial = ("The story ", "begins")
    house.agent.hold()
    async with house.running():
        house.tg.say("tell me a story", user=MIRA)
        await house.runs(1)
        house.tg.say("/stop", user=MIRA)
        await house.answers(1)
        await house.settled()
    assert house.agent.runs[0].stopped
    assert house.texts() == ["The story begins\n\nStopped."]
    assert house.ledger() == [("user", "tell me a story"), ("assistant", "The story begins")]
    assert house.column("SELECT state FROM turn") == ["settled"]


async def test_stop_before_the_first_word_keeps_the_message_in_memory(house: House) -> None:
    house.agent.hold()
    async with house.running():
        house.tg.say("never mind", user=MIRA)
        await house.runs(1)
        house.tg.say("/stop", user=MIRA)
        assert await house.answers(1) == ["Stopped."]
        await house.settled()
    assert house.ledger() == [("user", "never mind")]


async def test_stop_leaves_what_waits(house: House) -> None:
    house.agent.hold()
    async with house.running():
        house.tg.say("one", user=MIRA)
        await house.runs(1)
        house.tg.say("two", user=MIRA)
        house.tg.say("/stop", user=MIRA)
        await house.runs(2)
        house.agent.release()
        await house.answers(2)
        await house.settled()
    assert house.words() == ["one", "two"]
    assert house.texts() == ["Stopped.", "re: two"]


async def test_stop_with_nothing_to_stop_says_so(house: House) -> None:
    async with house.running():
        house.tg.say("/stop", user=MIRA)
        assert await house.answers(1) == ["I am not writing anything at the moment."]
        house.tg.say("hello", user=MIRA)
        assert (await house.answers(2))[1] == "re: hello"


async def test_stop_in_one_chat_stops_no_other(house: House) -> None:
    house.agent.hold()
    async with house.running():
        house.tg.say("mine", user=MIRA)
        house.tg.say("yours", user=TOBIAS)
        await house.runs(2)
        house.tg.say("/stop", user=MIRA)
        await house.answers(1)
        assert house.texts(TOBIAS) == []
        house.agent.release()
        assert await house.answers(1, TOBIAS) == ["re: yours"]


async def test_stop_that_comes_before_the_agent_is_called_is_not_missed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between claiming a turn and calling the agent lies a look into the database."""
    house.agent.hold()
    looking, asked = asyncio.Event(), asyncio.Event()
    async with house.running() as gateway:
        read = gateway.store.read

        async def slow_read(fn: Any) -> Any:
            if getattr(getattr(fn, "func", fn), "__name__", "") == "build":
                looking.set()
                await asked.wait()
            return await read(fn)

        monkeypatch.setattr(gateway.store, "read", slow_read)
        house.tg.say("hello", user=MIRA)
        await looking.wait()
        house.tg.say("/stop", user=MIRA)
        await house.until(lambda: house.column("SELECT stop_requested FROM turn") == [1], "asked")
        asked.set()
        await house.answers(1)
        await house.settled()
    assert house.texts() == ["Stopped."]
    assert house.words() == ["hello"]


async def test_stop_outlives_a_restart(house: House) -> None:
    """What was stopped is not begun again by the next process."""
    house.agent.hold()
    async with house.running() as gateway:
        house.tg.say("hello", user=MIRA)
        await house.runs(1)
        await gateway.store.write(lambda tx: tx.conn.exec_driver_sql(STOPPED))
        house.agent.release()
        await gateway.engine.stop(0)
    async with house.running():
        assert await house.answers(1) == ["Stopped."]
        await house.settled()
    assert len(house.agent.runs) == 1
    assert house.words() == ["hello"]
