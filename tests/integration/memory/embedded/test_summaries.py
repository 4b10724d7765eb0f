"""The seam for a thinker: summaries when they are due, from what was said, in the context."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.memory.embedded.deriver import Known, Question, Talk, Wish
    from tests.integration.memory.embedded.household import Household


class Thinker:
    """Says how much it was told, and waits when it is held."""

    def __init__(self) -> None:
        self.talks: list[Talk] = []
        self.free = asyncio.Event()
        self.free.set()
        self.thinking = asyncio.Event()

    async def representation(self, known: Known, wish: Wish) -> str:
        return f"{len(known.said)} messages for {wish.query or 'nobody'}"

    async def answer(self, known: Known, question: Question) -> AsyncIterator[str]:
        for word in ("thought", " ", f"at level {question.level}"):
            yield word

    async def summary(self, talk: Talk) -> str | None:
        self.talks.append(talk)
        self.thinking.set()
        await self.free.wait()
        return f"{talk.previous}+{len(talk.lines)}"


@pytest.fixture
def deriver() -> Thinker:
    return Thinker()


async def grow(home: Household, number: int, session: str = "s1") -> None:
    await home.say(session, *(("ann", f"line {index}") for index in range(number)))


async def until(home: Household, done: int) -> None:
    """Wait until so many summaries were made and none is being made."""

    async def reached() -> bool:
        status = (await home.get("queue/status")).json()
        return (status["completed_work_units"], status["in_progress_work_units"]) == (done, 0)

    await home.until(reached)


async def test_short_after_twenty_long_after_sixty(home: Household, deriver: Thinker) -> None:
    await grow(home, 19)
    assert deriver.talks == []
    await grow(home, 1)
    await until(home, 1)
    assert [len(talk.lines) for talk in deriver.talks] == [20]
    assert deriver.talks[0].lines[0][0] == "ann"
    assert deriver.talks[0].lines[0][1].text == "line 0"
    await grow(home, 45)
    await until(home, 3)
    found = (await home.get("sessions/s1/summaries")).json()
    assert found["short_summary"]["content"] == "+20+45"
    assert found["short_summary"]["summary_type"] == "short"
    assert found["long_summary"]["content"] == "+65"
    last = (await home.post("sessions/s1/messages/list", {}, reverse="true", size=1)).json()
    assert found["long_summary"]["message_id"] == last["items"][0]["id"]


async def test_the_context_begins_behind_its_summary(home: Household) -> None:
    await grow(home, 20)
    await until(home, 1)
    await home.say("s1", ("ann", "after it"))
    context = (await home.get("sessions/s1/context", tokens=2000)).json()
    assert context["summary"]["content"] == "+20"
    assert [each["content"] for each in context["messages"]] == ["after it"]
    plain = (await home.get("sessions/s1/context", tokens=2000, summary="false")).json()
    assert (plain["summary"], len(plain["messages"])) == (None, 21)
    small = (await home.get("sessions/s1/context", tokens=1)).json()
    assert small["summary"] is None


@pytest.mark.parametrize(
    ("settings", "made"),
    [
        ({"enabled": False}, 0),
        ({"messages_per_short_summary": 10}, 1),
        ({"messages_per_short_summary": 10, "messages_per_long_summary": 20}, 1),
        ({}, 0),
    ],
)
async def test_settings_of_a_session(
    home: Household, deriver: Thinker, settings: dict[str, Any], made: int
) -> None:
    await home.post("sessions", {"id": "s1", "configuration": {"summary": settings}})
    await grow(home, 19)
    await until(home, made)
    assert len(deriver.talks) == made


async def test_the_queue_says_what_is_done(home: Household, deriver: Thinker) -> None:
    empty = (await home.get("queue/status")).json()
    assert (empty["total_work_units"], empty["sessions"]) == (0, None)
    deriver.free.clear()
    await grow(home, 20)
    await deriver.thinking.wait()
    status = (await home.get("queue/status")).json()
    assert (status["total_work_units"], status["in_progress_work_units"]) == (1, 1)
    assert (await home.get("queue/status", session_id="s2")).json()["total_work_units"] == 0
    assert (await home.get("../other/queue/status")).json()["total_work_units"] == 0
    deriver.free.set()
    await until(home, 1)
    one = (await home.client.aio.queue_status(session="s1")).sessions["s1"]
    assert (one.completed_work_units, one.in_progress_work_units) == (1, 0)


async def test_a_session_deleted_while_it_is_thought_about(
    home: Household, deriver: Thinker
) -> None:
    deriver.free.clear()
    await grow(home, 20)
    await deriver.thinking.wait()
    await home.raw.delete("sessions/s1")
    deriver.free.set()
    await until(home, 1)
    assert (await home.get("sessions/s1/summaries")).status_code == 404


async def test_answers_do_not_wait_for_summaries(home: Household, deriver: Thinker) -> None:
    deriver.free.clear()
    await grow(home, 20)
    await grow(home, 1)
    assert len((await home.get("sessions/s1/context")).json()["messages"]) == 21
    deriver.free.set()


async def test_what_the_thinker_is_asked(home: Household) -> None:
    await grow(home, 3)
    ann = await home.client.aio.peer("ann")
    assert await ann.aio.representation(search_query="tea") == "3 messages for tea"
    assert await ann.aio.chat("why?", reasoning_level="high") == "thought at level high"
