"""Previews: seen while an answer grows, and the answer stands exactly once whatever happens."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import pytest

from adapters.telegram.pace import LONGEST_SLEEP
from adapters.telegram.preview import GROUP_PAUSE, MARK, PRIVATE_PAUSE
from gateway.model.errors import AmbiguousSendError, RateLimitedError
from gateway.model.ids import MessageId, TurnId
from gateway.text.markup import parse
from tests.integration.telegram.support import (
    WatchingClock,
    address,
    opened,
    part,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.telegram.adapter import TelegramAdapter
    from gateway.ports import Preview
    from tests.emulators.telegram.emulator import TelegramEmulator

ANN, GROUP, OTHER = 42, -4455667, -4455668
FORUM = -1005550003333
TURN = TurnId("t_1")


def begin(
    adapter: TelegramAdapter,
    chat: int = ANN,
    question: int = 1,
    *,
    thread: int | None = None,
    turn: TurnId = TURN,
) -> Preview:
    preview = adapter.preview(address(chat, thread), turn, MessageId(str(question)))
    assert preview is not None
    return preview


def texts(tg: TelegramEmulator, chat: int = GROUP) -> list[str]:
    return [message["text"] for message in tg.answers(chat)]


def reads(tg: TelegramEmulator, *wanted: str) -> bool:
    return texts(tg) == list(wanted)


async def grow(tg: TelegramEmulator, preview: Preview, *stages: str) -> None:
    for stage in stages:
        preview.update(stage)
        await until(partial(reads, tg, f"{stage}{MARK}"))


async def test_a_person_sees_drafts_and_one_message(tg: TelegramEmulator) -> None:
    question = tg.say("deploy?")
    clock = WatchingClock()
    async with opened(tg, clock) as adapter:
        preview = begin(adapter, ANN, question)
        preview.update("I **th")
        await tg.wait_for_calls("sendMessageDraft")
        preview.update("I **think** so")
        first, second = await tg.wait_for_calls("sendMessageDraft", 2)
        await preview.close()
        assert texts(tg, ANN) == []
        await adapter.send(part(parse("I **think** so."), reply_to=question, turn=TURN))
    assert (first.args["text"], second.args["text"]) == (f"I **th{MARK}", f"I think so{MARK}")
    assert second.args["entities"] == [{"type": "bold", "offset": 2, "length": 5}]
    assert first.args["draft_id"] == second.args["draft_id"] != 0
    assert texts(tg, ANN) == ["I think so."]
    assert sum(clock.slept) == pytest.approx(2 * PRIVATE_PAUSE)


async def test_two_answers_have_two_drafts(tg: TelegramEmulator) -> None:
    tg.say("deploy?")
    async with opened(tg) as adapter:
        for turn in ("t_1", "t_2"):
            preview = begin(adapter, turn=TurnId(turn))
            preview.update("yes")
            await tg.wait_for_calls("sendMessageDraft", int(turn[-1]))
            await preview.close()
    first, second = tg.calls_of("sendMessageDraft")
    assert first.args["draft_id"] != second.args["draft_id"]


async def test_a_long_draft_shows_its_end(tg: TelegramEmulator) -> None:
    tg.say("deploy?")
    async with opened(tg) as adapter:
        preview = begin(adapter)
        preview.update("word 😀 " * 2000 + "last")
        [call] = await tg.wait_for_calls("sendMessageDraft")
        await preview.close()
    assert call.args["text"].endswith(f"last{MARK}")
    assert call.error == 0


async def test_a_group_message_becomes_the_answer(tg: TelegramEmulator) -> None:
    question = tg.say("@gate_bot deploy?", chat=GROUP)
    clock = WatchingClock()
    async with opened(tg, clock) as adapter:
        preview = begin(adapter, GROUP, question)
        await grow(tg, preview, "I think", "I think yes")
        await preview.close()
        [shown] = tg.answers(GROUP)
        assert shown["reply_to_message"]["message_id"] == question
        first = part(parse("I **think** yes."), GROUP, reply_to=question, turn=TURN)
        receipt = await adapter.send(first)
        await adapter.send(part("More.", GROUP, turn=TURN))
    assert (receipt.message, receipt.degraded) == (str(shown["message_id"]), ())
    assert texts(tg) == ["I think yes.", "More."]
    assert tg.answers(GROUP)[0]["entities"] == [{"type": "bold", "offset": 2, "length": 5}]
    assert sum(clock.slept) >= 2 * GROUP_PAUSE


async def test_a_preview_stays_in_its_topic(tg: TelegramEmulator) -> None:
    topic = tg.topic(FORUM, "Deploys")
    question = tg.say("deploy?", chat=FORUM, thread=topic)
    async with opened(tg) as adapter:
        preview = begin(adapter, FORUM, question, thread=topic)
        preview.update("yes")
        [shown] = await tg.wait_for(1, chat=FORUM)
        await preview.close()
        await adapter.send(part("yes!", FORUM, thread=topic, turn=TURN))
    assert shown["message_thread_id"] == topic
    assert texts(tg, FORUM) == ["yes!"]


@pytest.mark.parametrize("chat", [ANN, GROUP])
async def test_a_429_is_waited_out_and_the_answer_comes(tg: TelegramEmulator, chat: int) -> None:
    """The third showing is refused: none before the deadline, other chats unaffected."""
    method = "sendMessageDraft" if chat == ANN else "editMessageText"
    shown = 2 if chat == ANN else 1
    question = tg.say("@gate_bot deploy?", chat=chat)
    tg.say("hello", chat=OTHER)
    clock = WatchingClock()
    async with opened(tg, clock) as adapter:
        preview = begin(adapter, chat, question)
        for number in range(2):
            preview.update(f"words {number}")
            await until(partial(shown_so_often, tg, number + 1))
        tg.fail(method, 429, retry_after=20, chat=chat)
        preview.update("refused")
        await tg.wait_for_calls(method, shown + 1)
        refused_at = clock.elapsed
        aside = await adapter.send(part("elsewhere", OTHER))
        assert aside.message
        await tg.wait_for_calls(method, shown + 2)
        assert clock.elapsed - refused_at >= 20
        await preview.close()
        await adapter.send(part("final", chat, turn=TURN))
    assert texts(tg, chat) == ["final"]


def shown_so_often(tg: TelegramEmulator, count: int) -> bool:
    return len(showings(tg)) >= count


def showings(tg: TelegramEmulator) -> list[str]:
    methods = ("sendMessageDraft", "editMessageText", "sendMessage")
    return [call.method for call in tg.calls if call.method in methods]


async def test_the_answer_keeps_the_deadline_too(tg: TelegramEmulator) -> None:
    """H-34: the mailbox waits instead of us, and the finishing edit comes after it."""
    question = tg.say("@gate_bot deploy?", chat=GROUP)
    clock = WatchingClock()
    async with opened(tg, clock) as adapter:
        preview = begin(adapter, GROUP, question)
        await grow(tg, preview, "I think")
        tg.fail("editMessageText", 429, retry_after=20)
        preview.update("refused")
        await tg.wait_for_calls("editMessageText")
        await preview.close()
        answer = part("final", GROUP, turn=TURN)
        with pytest.raises(RateLimitedError) as caught:
            await adapter.send(answer)
        assert (caught.value.retry_after or 0) > LONGEST_SLEEP
        assert len(tg.calls_of("editMessageText")) == 1
        clock.elapsed += 20
        await adapter.send(answer)
    assert texts(tg) == ["final"]


async def test_previews_leave_a_groups_minute_to_messages(tg: TelegramEmulator) -> None:
    """An answer is written for a minute; its parts need not wait for the next one."""
    tg.say("@gate_bot deploy?", chat=GROUP)
    clock = WatchingClock()
    async with opened(tg, clock) as adapter:
        preview = begin(adapter, GROUP)
        began = clock.elapsed
        number = 0
        while clock.elapsed - began < 55:
            number += 1
            preview.update(f"words {number}")
            await asyncio.sleep(0.002)
        await preview.close()
        calls = len(showings(tg))
        for number in range(4):
            await adapter.send(part(f"part {number}", GROUP, turn=TURN))
    assert calls >= 10
    assert texts(tg) == [f"part {number}" for number in range(4)]


# --- trouble -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "description",
    ["message can't be edited", "MESSAGE_ID_INVALID", "message to edit not found"],
)
async def test_a_preview_that_cannot_be_finished_gives_way(
    tg: TelegramEmulator, description: str
) -> None:
    question = tg.say("@gate_bot deploy?", chat=GROUP)
    async with opened(tg) as adapter:
        preview = begin(adapter, GROUP, question)
        await grow(tg, preview, "I think")
        await preview.close()
        tg.fail("editMessageText", 400, description)
        await adapter.send(part("final", GROUP, reply_to=question, turn=TURN))
    assert texts(tg) == ["final"]


async def test_a_preview_that_somebody_deleted_is_no_loss(tg: TelegramEmulator) -> None:
    question = tg.say("@gate_bot deploy?", chat=GROUP)
    async with opened(tg) as adapter:
        preview = begin(adapter, GROUP, question)
        await grow(tg, preview, "I think")
        await preview.close()
        tg.delete(GROUP, tg.answers(GROUP)[0]["message_id"])
        await adapter.send(part("final", GROUP, turn=TURN))
    assert texts(tg) == ["final"]


async def test_the_finishing_edit_loses_its_formatting_before_its_message(
    tg: TelegramEmulator,
) -> None:
    question = tg.say("@gate_bot deploy?", chat=GROUP)
    async with opened(tg) as adapter:
        preview = begin(adapter, GROUP, question)
        await grow(tg, preview, "I think")
        await preview.close()
        tg.fail("editMessageText", 400, "can't parse entities: odd")
        receipt = await adapter.send(part(parse("**final**"), GROUP, turn=TURN))
    assert receipt.degraded == ("plain",)
    assert texts(tg) == ["final"]
    assert "entities" not in tg.answers(GROUP)[0]


def lose(tg: TelegramEmulator, method: str) -> None:
    tg.lose(method)


def truncate(tg: TelegramEmulator, method: str) -> None:
    tg.truncate(method)


@pytest.mark.parametrize("trouble", [lose, truncate])
async def test_the_finishing_edit_may_be_repeated(
    tg: TelegramEmulator, trouble: Callable[[TelegramEmulator, str], None]
) -> None:
    """The second one changes nothing, which Telegram refuses: it is finished all the same."""
    question = tg.say("@gate_bot deploy?", chat=GROUP)
    async with opened(tg) as adapter:
        preview = begin(adapter, GROUP, question)
        await grow(tg, preview, "I think")
        await preview.close()
        trouble(tg, "editMessageText")
        with pytest.raises(AmbiguousSendError):
            await adapter.send(part("final", GROUP, turn=TURN))
        assert adapter.finishing(part("final", GROUP, turn=TURN))
        receipt = await adapter.send(part("final", GROUP, turn=TURN))
    [answer] = tg.answers(GROUP)
    assert (answer["text"], receipt.message) == ("final", str(answer["message_id"]))


async def test_a_preview_whose_post_was_lost_is_not_posted_again(tg: TelegramEmulator) -> None:
    """It cannot be found, so it stands with its mark; the answer comes whole beside it."""
    question = tg.say("@gate_bot deploy?", chat=GROUP)
    tg.lose("sendMessage")
    async with opened(tg) as adapter:
        preview = begin(adapter, GROUP, question)
        preview.update("I think")
        await tg.wait_for(1, chat=GROUP)
        preview.update("I think yes")
        await asyncio.sleep(0.05)
        await preview.close()
        assert adapter.preview(address(GROUP), TURN, MessageId("1")) is None
        await adapter.send(part("final", GROUP, turn=TURN))
    assert texts(tg) == [f"I think{MARK}", "final"]


@pytest.mark.parametrize(("chat", "method"), [(ANN, "sendMessageDraft"), (GROUP, "sendMessage")])
async def test_trouble_ends_a_preview_and_no_answer(
    tg: TelegramEmulator, chat: int, method: str
) -> None:
    question = tg.say("@gate_bot deploy?", chat=chat)
    tg.fail(method, 400, "unexpected")
    async with opened(tg) as adapter:
        preview = begin(adapter, chat, question)
        preview.update("one")
        await tg.wait_for_calls(method)
        preview.update("two")
        await asyncio.sleep(0.05)
        await preview.close()
        await adapter.send(part("final", chat, turn=TURN))
    assert texts(tg, chat) == ["final"]


async def test_a_quick_answer_needs_no_preview(tg: TelegramEmulator) -> None:
    class Standing(WatchingClock):
        async def sleep(self, seconds: float) -> None:
            await asyncio.Event().wait()

    async with opened(tg, Standing()) as adapter:
        preview = begin(adapter)
        preview.update("yes")
        await asyncio.sleep(0)
        await preview.close()
    assert tg.calls == []


async def test_after_its_end_a_preview_calls_nobody(tg: TelegramEmulator) -> None:
    """H-56."""
    tg.say("@gate_bot deploy?", chat=GROUP)
    async with opened(tg) as adapter:
        preview = begin(adapter, GROUP)
        await grow(tg, preview, "one")
        await preview.close()
        calls = len(tg.calls)
        preview.update("two")
        await asyncio.sleep(0.05)
        assert len(tg.calls) == calls


async def test_a_stop_leaves_no_half_answer_behind(tg: TelegramEmulator) -> None:
    """A later process writes the answer anew and knows nothing of this message."""
    tg.say("@gate_bot deploy?", chat=GROUP)
    async with opened(tg) as adapter:
        preview = begin(adapter, GROUP)
        await grow(tg, preview, "I think")
        await preview.close()
    assert texts(tg) == []


async def test_a_group_that_moved_gets_the_answer_where_it_is_now(tg: TelegramEmulator) -> None:
    question = tg.say("@gate_bot deploy?", chat=GROUP)
    async with opened(tg) as adapter:
        preview = begin(adapter, GROUP, question)
        await grow(tg, preview, "I think")
        await preview.close()
        moved = tg.migrate(GROUP)
        await adapter.send(part("final", GROUP, turn=TURN))
    assert texts(tg, moved) == ["final"]
