"""The typing sign: while a turn runs and never after, and in nobody's way (H-56)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from gateway.model.errors import AgentError
from tests.fakes.household import GROUP, MIRA, TOBIAS
from tests.integration.pipeline.support import House, mention

if TYPE_CHECKING:
    from tests.fakes.agent import Reply

ENDINGS: dict[str, list[Reply]] = {
    "answers": ["fine"],
    "says nothing": [""],
    "raises": [AgentError()],
    "times out": [AgentError(user_text="failed.timeout")],
    "breaks": [RuntimeError("a defect"), "fine"],
    "is stopped": ["never said"],
}


@pytest.mark.parametrize("ending", ENDINGS)
async def test_typing_is_shown_while_a_turn_runs_and_never_after(
    house: House, ending: str
) -> None:
    """H-56."""
    house.agent.replies = ENDINGS[ending]
    house.agent.hold()
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.runs(1)
        await house.tg.wait_for_calls("sendChatAction", 3)
        if ending == "is stopped":
            house.tg.say("/stop", user=MIRA)
        house.agent.release()
        await house.answers(1)
        await house.settled()
        await _no_more_typing(house)


async def test_typing_that_hangs_delays_no_answer(house: House) -> None:
    """H-56 f."""
    house.tg.slow("sendChatAction", 30)
    began = time.monotonic()
    async with house.running():
        house.tg.say("hello", user=MIRA)
        assert await house.answers(1) == ["re: hello"]
        await house.settled()
        await _no_more_typing(house)
    assert time.monotonic() - began < 5


async def test_typing_that_is_refused_stops_and_changes_nothing(house: House) -> None:
    house.tg.fail("sendChatAction", 400, "CHAT_WRITE_FORBIDDEN")
    house.agent.hold()
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.tg.wait_for_calls("sendChatAction")
        await _no_more_typing(house)
        house.agent.release()
        assert await house.answers(1) == ["re: hello"]


async def test_two_turns_in_one_chat_leave_no_sign_behind(house: House) -> None:
    """H-56 g."""
    house.agent.hold()
    async with house.running():
        house.tg.say(mention("one"), user=MIRA, chat=GROUP)
        house.tg.say(mention("two"), user=TOBIAS, chat=GROUP)
        await house.runs(2)
        await house.tg.wait_for_calls("sendChatAction", 2)
        house.agent.release()
        await house.answers(2, GROUP)
        await house.settled()
        await _no_more_typing(house)


async def test_typing_has_a_longest_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """H-56."""
    monkeypatch.setattr("gateway.pipeline.typing.LONGEST", 12.0)
    house.agent.hold()
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.tg.wait_for_calls("sendChatAction", 2)
        end = house.clock.monotonic() + 12
        await house.until(lambda: house.clock.monotonic() > end, "twelve seconds")
        await _no_more_typing(house)
        house.agent.release()
        assert await house.answers(1) == ["re: hello"]


async def _no_more_typing(house: House) -> None:
    seen = len(house.tg.calls_of("sendChatAction"))
    end = house.clock.monotonic() + 20
    await house.until(lambda: house.clock.monotonic() > end, "twenty seconds")
    assert len(house.tg.calls_of("sendChatAction")) == seen
    assert [task for task in asyncio.all_tasks() if task.get_name() == "typing"] == []
