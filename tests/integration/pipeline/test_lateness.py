"""Answers that a restart made late say so, once; no other answer does."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from gateway.text import catalog
from tests.fakes.household import MIRA, STRANGER

if TYPE_CHECKING:
    from tests.integration.pipeline.support import House

SORRY = "Sorry for the wait: I was restarted in between."


async def killed_while_answering(house: House) -> None:
    """Take a message in and stop before its answer is there."""
    house.agent.hold()
    async with house.running() as gateway:
        house.tg.say("hello", user=MIRA)
        await house.runs(1)
        await gateway.engine.stop(0)
    house.agent.release()


@pytest.mark.parametrize(("seconds", "late"), [(0, False), (30, False), (120, True)])
async def test_an_answer_that_a_restart_made_late_says_so(
    house: House, seconds: float, late: bool
) -> None:
    await killed_while_answering(house)
    house.clock.jump(seconds)
    async with house.running():
        [text] = await house.answers(1)
        await house.settled()
    assert text == ("re: hello\n\n" + SORRY if late else "re: hello")
    assert [said for role, said in house.ledger() if role == "assistant"] == ["re: hello"]


async def test_it_says_so_in_the_persons_language(house: House) -> None:
    house.tg.user(MIRA, language_code="ru")
    await killed_while_answering(house)
    house.clock.jump(120)
    async with house.running():
        [answer] = await house.tg.wait_for(1, chat=MIRA)
    line = catalog.text("recovered", "ru").strip("*")
    assert answer["text"] == f"re: hello\n\n{line}"
    [entity] = answer["entities"]
    assert (entity["type"], entity["length"]) == ("italic", len(line))


async def test_an_answer_that_waited_for_its_platform_says_so_too(house: House) -> None:
    house.tg.fail("sendMessage", 429, retry_after=300)
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.until(lambda: house.column("SELECT attempts FROM outbox") == [1], "a try")
        await house.until(lambda: house.column("SELECT state FROM outbox") == ["waiting"], "wait")
    house.clock.jump(600)
    async with house.running():
        assert await house.answers(1) == ["re: hello\n\n" + SORRY]
        await house.settled()


async def test_waiting_in_one_process_needs_no_excuse(house: House) -> None:
    house.agent.hold()
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.runs(1)
        house.clock.jump(600)
        house.agent.release()
        assert await house.answers(1) == ["re: hello"]


async def test_it_is_said_once_behind_the_last_part(house: House) -> None:
    house.agent.replies = ["word " * 1200]
    await killed_while_answering(house)
    house.agent.replies = ["word " * 1200]
    house.clock.jump(120)
    house.tg.fail("sendMessage", 429, retry_after=5)
    async with house.running():
        first, last = await house.answers(2)
        await house.settled()
    assert SORRY not in first
    assert last.count(SORRY) == 1
    assert last.endswith("word\n\n" + SORRY)


async def test_a_full_part_stays_as_it_is(house: House) -> None:
    whole = "x" * 4096
    house.agent.replies = [whole]
    await killed_while_answering(house)
    house.agent.replies = [whole]
    house.clock.jump(120)
    async with house.running():
        assert await house.answers(1) == [whole]


async def test_what_is_too_old_is_neither_answered_nor_obeyed(house: House) -> None:
    """A ``/stop`` that comes two days late would cancel an answer of today."""
    when = int((house.clock.now() - timedelta(days=2)).timestamp())
    house.agent.hold()
    async with house.running():
        house.tg.say("today", user=MIRA)
        await house.runs(1)
        for text in ("hello", "/status", "/memory", "/search x", "/stop", "/nosuch", "/new"):
            house.tg.say(text, user=MIRA, date=when)
        house.tg.say(user=MIRA, date=when, sticker={"file_id": "s", "emoji": "x"})
        house.tg.say("let me in", user=STRANGER, date=when)
        await house.taken()
        waiting = "SELECT id FROM item WHERE lane = 'command' AND state IN ('ready', 'running')"
        await house.until(lambda: not house.column(waiting), "commands done")
        house.agent.release()
        assert await house.answers(1) == ["re: today"]
        await house.settled()
    assert house.column("SELECT count(*) FROM outbox") == [1]
