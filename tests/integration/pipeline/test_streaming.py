"""Answers that are seen while they are written, and stand there once when they are done."""

from __future__ import annotations

import pytest

from adapters.telegram.preview import MARK
from tests.fakes.household import GROUP, MIRA, TOBIAS
from tests.integration.pipeline.support import House, mention


@pytest.fixture
def house(house: House) -> House:
    house.agent.partial = ["I th", "ink"]
    house.agent.hold()
    return house


async def preview_in_group(house: House) -> int:
    """Ask in the group and return the id of the message that shows the answer's beginning."""
    house.tg.say(mention("well?"), user=MIRA, chat=GROUP)
    [shown] = await house.tg.wait_for(1, chat=GROUP, timeout=8.0)
    assert shown["text"] == f"I think{MARK}"
    return int(shown["message_id"])


async def test_a_group_sees_one_message_grow_into_the_answer(house: House) -> None:
    async with house.running():
        shown = await preview_in_group(house)
        house.agent.release()
        await house.settled()
    [answer] = house.tg.answers(GROUP)
    assert (answer["text"], answer["message_id"]) == ("re: well?", shown)
    assert house.rows("SELECT state, sent_message FROM outbox") == [("delivered", str(shown))]


async def test_a_person_sees_a_draft_and_one_message(house: House) -> None:
    async with house.running():
        house.tg.say("well?", user=MIRA)
        [draft] = await house.tg.wait_for_calls("sendMessageDraft", timeout=8.0)
        assert house.texts() == []
        house.agent.release()
        assert await house.answers(1) == ["re: well?"]
        await house.settled()
    assert draft.args["text"] == f"I think{MARK}"


async def test_it_can_be_switched_off(house: House) -> None:
    house.configure(conversations={"streaming": False})
    async with house.running():
        house.tg.say("well?", user=MIRA)
        await house.runs(1)
        await house.tg.wait_for_calls("sendChatAction", timeout=8.0)
        house.agent.release()
        await house.answers(1)
    assert house.tg.calls_of("sendMessageDraft") == []


async def test_a_stop_takes_the_beginning_away_and_the_next_start_answers_once(
    house: House,
) -> None:
    async with house.running() as gateway:
        await preview_in_group(house)
        await gateway.engine.stop(0)
    assert house.texts(GROUP) == []
    house.agent.release()
    async with house.running():
        [text] = await house.answers(1, GROUP)
        await house.settled()
    assert text.startswith("re: well?")
    assert len(house.texts(GROUP)) == 1


async def test_a_beginning_that_stays_is_marked_and_the_answer_stands_once(house: House) -> None:
    """As after a crash: nobody can find the message again."""
    house.tg.fail("deleteMessage", 400, "message can't be deleted")
    async with house.running() as gateway:
        await preview_in_group(house)
        await gateway.engine.stop(0)
    house.agent.release()
    async with house.running():
        await house.answers(2, GROUP)
        await house.settled()
    beginning, answer = house.texts(GROUP)
    assert beginning == f"I think{MARK}"
    assert answer.startswith("re: well?")


async def test_a_429_is_waited_out_and_concerns_nobody_else(house: House) -> None:
    """H-34: the finishing edit comes once, not before the deadline, and others are served."""
    async with house.running():
        shown = await preview_in_group(house)
        house.tg.fail("editMessageText", 429, retry_after=60, chat=GROUP)
        house.agent.release()
        await house.tg.wait_for_calls("editMessageText", timeout=8.0)
        refused_at = house.clock.monotonic()
        house.tg.say("and me?", user=TOBIAS)
        assert await house.answers(1, TOBIAS) == ["re: and me?"]
        assert house.texts(GROUP) == [f"I think{MARK}"]
        await house.settled()
        assert house.clock.monotonic() - refused_at >= 60
    [answer] = house.tg.answers(GROUP)
    assert (answer["text"], answer["message_id"]) == ("re: well?", shown)
    assert len(house.tg.calls_of("editMessageText")) == 2


async def test_nothing_is_shown_before_an_earlier_answer_that_waits(house: House) -> None:
    """What is shown stays where it was posted: the answers would stand in the wrong order."""
    house.agent.partial = []
    house.agent.release()
    house.tg.fail("sendMessage", 429, retry_after=30, chat=GROUP)
    async with house.running():
        house.tg.say(mention("one"), user=MIRA, chat=GROUP)
        await house.tg.wait_for_calls("sendMessage", timeout=8.0)
        house.agent.partial = ["I th", "ink"]
        house.agent.hold()
        house.tg.say(mention("two"), user=MIRA, chat=GROUP)
        await house.runs(2)
        await house.tg.wait_for(1, chat=GROUP, timeout=8.0)
        assert house.texts(GROUP) == ["re: one"]
        house.agent.release()
        await house.settled()
    assert house.texts(GROUP) == ["re: one", "re: two"]


async def test_a_lost_finishing_edit_is_unknown_to_the_next_process(house: House) -> None:
    """It may be repeated by the process that knows the message, and posted by none."""
    async with house.running():
        shown = await preview_in_group(house)
        house.tg.lose("editMessageText", times=1000)
        house.agent.release()
        await house.until(lambda: house.texts(GROUP) == ["re: well?"], "the edit was done")
        edits = len(house.tg.calls_of("editMessageText"))
        await house.tg.wait_for_calls("editMessageText", edits + 1, timeout=8.0)
        assert house.column("SELECT state FROM outbox") == ["sending"]
    async with house.running():
        await house.settled()
    [answer] = house.tg.answers(GROUP)
    assert (answer["text"], answer["message_id"]) == ("re: well?", shown)
    assert house.column("SELECT state FROM outbox") == ["unknown"]
