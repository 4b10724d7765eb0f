"""What goes wrong on our side: the model, defects, odd texts, late messages."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from gateway.model.errors import AgentError, Disposition
from gateway.pipeline.closing import Closing
from gateway.pipeline.turn import TRIES
from gateway.ports import Answer
from gateway.text import catalog
from tests.fakes.household import MIRA, TOBIAS
from tests.integration.pipeline.support import House, steps_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fakes.agent import Reply

RETRY = Disposition.RETRY
DAY = 24 * 3600


# --- the model ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replies", "runs", "said"),
    [
        ([AgentError(disposition=RETRY)], 2, "re: hello"),
        ([AgentError(disposition=RETRY)] * (TRIES - 1), TRIES, "re: hello"),
        ([AgentError(disposition=RETRY)] * TRIES, TRIES, "failed.model"),
        ([AgentError(disposition=RETRY, user_text="failed.timeout")] * 9, TRIES, "failed.timeout"),
        ([AgentError(user_text="failed.credentials")], 1, "failed.credentials"),
        ([AgentError()], 1, "failed.model"),
        ([RuntimeError("a defect")], 2, "re: hello"),
        ([RuntimeError("a defect")] * TRIES, TRIES, "failed.internal"),
        ([asyncio.CancelledError()], 2, "re: hello"),
    ],
)
async def test_a_failing_model_is_tried_again_and_then_said(
    house: House, replies: list[Reply], runs: int, said: str
) -> None:
    """The person is told in their language, and the next message is answered as ever."""
    house.tg.user(MIRA, language_code="ru")
    house.agent.replies = list(replies)
    async with house.running():
        house.tg.say("hello", user=MIRA)
        [text] = await house.answers(1)
        await house.settled()
        assert len(house.agent.runs) == runs
        house.agent.replies = []
        house.tg.say("next", user=MIRA)
        assert (await house.answers(2))[1] == "re: next"
        await house.settled()
    answered = said == "re: hello"
    assert text == (said if answered else _plain(said, "ru"))
    assert house.words() == ["hello", "next"]
    assert len(house.ledger()) == (4 if answered else 3)
    assert house.agent.runs[-1].history == ["hello", *([said] if answered else [])]
    assert house.column("SELECT state FROM turn") == ["settled"] * 2
    assert house.column("SELECT attempt FROM turn ORDER BY created_at")[0] == runs


def _plain(key: str, language: str) -> str:
    return catalog.text(key, language).replace("`", "")


async def test_a_text_key_nobody_knows_still_tells_the_person(house: House) -> None:
    """A defect while the failure is written down is a failure too, not silence."""
    house.agent.replies = [AgentError(user_text="failed.not_a_key")] * TRIES
    async with house.running():
        house.tg.say("hello", user=MIRA)
        assert await house.answers(1) == [_plain("failed.internal", "en")]
        await house.settled()
    assert house.words() == ["hello"]


async def test_a_run_that_is_taken_up_again_does_not_repeat_committed_steps(
    house: House,
) -> None:
    house.agent.steps = ("look", "think")
    house.agent.replies = [AgentError(disposition=RETRY)]
    async with house.running():
        house.tg.say("hello", user=MIRA)
        assert await house.answers(1) == ["re: hello"]
        await house.settled()
    assert [run.done for run in house.agent.runs] == [["look", "think"], []]
    assert house.agent.runs[1].found == ["look", "think"]
    assert house.column("SELECT count(*) FROM turn_step") == [0]


async def test_one_conversation_that_fails_holds_up_no_other(house: House) -> None:
    def answer(request: Any) -> Reply:
        broken = request.spoken[0].text == "break"
        return AgentError(disposition=RETRY) if broken else "fine"

    house.agent.answer = answer
    async with house.running():
        house.tg.say("break", user=MIRA)
        await house.runs(1)
        house.tg.say("hello", user=TOBIAS)
        assert await house.answers(1, TOBIAS) == ["fine"]


@pytest.mark.parametrize("times", [1, TRIES])
async def test_a_defect_before_the_turn_exists_does_not_swallow_the_message(
    house: House, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Whoever wrote is answered, or told that nothing will come."""
    left = [RuntimeError("a defect")] * times

    def broken(*args: Any, **kwargs: Any) -> Any:
        if left:
            raise left.pop()
        return original(*args, **kwargs)

    original = catalog.language_of
    monkeypatch.setattr("gateway.pipeline.rules.Rules.language_for", _language(broken))
    async with house.running():
        house.tg.say("hello", user=MIRA)
        [text] = await house.answers(1)
        await house.settled()
    assert text == ("re: hello" if times == 1 else _plain("failed.internal", "en"))


def _language(speak: Callable[..., str]) -> Callable[..., str]:
    return lambda _rules, sender: speak(sender.language)


# --- odd texts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\0b", "ab"),
        ("ok \ud83d", "ok \ufffd"),
        ("\udc97 cp1252", "\ufffd cp1252"),
        ("\ufffe", "\ufffe"),
        ("\x1b[31mred", "\x1b[31mred"),
        ("one\r\ntwo", "one\r\ntwo"),
        ("<|endoftext|> and </s>", "<|endoftext|> and </s>"),
    ],
)
async def test_odd_characters_go_in_and_come_out_clean(house: House, text: str, kept: str) -> None:
    """H-51: in the message, the name, a quoted text, a file's name, and the model's answer."""
    house.tg.user(MIRA, first_name=f"Mi{text}ra", language_code="en\0")
    quoted = {
        "message_id": 5,
        "from": {"id": TOBIAS, "is_bot": False, "first_name": text},
        "chat": {"id": MIRA, "type": "private", "first_name": text},
        "date": int(time.time()),
        "text": text,
    }
    house.agent.replies = [f"said: {text}"]
    async with house.running():
        house.tg.say(text, user=MIRA, entities=[], reply_to_message=quoted)
        [answer] = await house.answers(1)
        file = {"file_id": "f\0", "file_unique_id": "u", "file_name": text}
        house.tg.say("before", user=TOBIAS)
        house.tg.say(f"see {text}", user=TOBIAS, entities=[], document=file)
        await house.answers(1, TOBIAS)
        await house.settled()
    assert house.agent.runs[0].texts == [kept]
    assert house.agent.runs[0].request.spoken[0].reply is not None
    assert house.agent.runs[0].request.spoken[0].reply.text == kept
    assert answer == f"said: {kept}".replace("\r", "").replace("\x1b", " ")
    assert {text for text in house.words() if "see" not in text} >= {kept, "before"}
    assert house.column("SELECT count(*) FROM set_aside") == [0]
    for stored in house.column("SELECT text FROM message"):
        assert "\0" not in stored


# --- late -----------------------------------------------------------------------------------


async def test_what_is_too_old_is_recorded_and_not_answered(house: House) -> None:
    """H-57."""
    old = int(time.time()) - DAY - 60
    async with house.running():
        house.tg.say("long ago", user=MIRA, date=old)
        await house.silence()
        house.tg.say("now", user=MIRA)
        assert await house.answers(1) == ["re: now"]
        await house.settled()
    assert house.words() == ["long ago", "now"]
    assert house.agent.runs[0].history == ["long ago"]
    assert house.column("SELECT state FROM turn ORDER BY created_at") == ["expired", "settled"]


async def test_an_expired_turn_stays_expired_over_a_crash(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its state was committed, its rows were not: taking it up again answers nothing."""
    crashes = [RuntimeError("killed here")]
    expired = Closing.expired

    def once(self: Closing, *args: Any) -> None:
        if crashes:
            raise crashes.pop()
        expired(self, *args)

    monkeypatch.setattr(Closing, "expired", once)
    async with house.running():
        house.tg.say("long ago", user=MIRA, date=int(time.time()) - DAY - 60)
        await house.silence()
    assert house.agent.runs == []
    assert house.words() == ["long ago"]
    assert house.column("SELECT state FROM item WHERE lane = 'turn'") == ["done"]


async def test_a_clock_that_was_set_back_forgets_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H-52: what was said before is history, whatever the clock says of when."""
    async with house.running():
        house.tg.say("one", user=MIRA)
        await house.answers(1)
        await house.settled()
        real = time.time_ns
        monkeypatch.setattr(time, "time_ns", lambda: real() - 3600 * 10**9)
        house.clock.jump(-3600)
        house.tg.say("two", user=MIRA)
        await house.answers(2)
        await house.settled()
    assert house.agent.runs[1].history == ["one", "re: one"]
    assert house.words() == ["one", "two"]


async def test_steps_and_states_of_a_failed_turn_are_in_its_trace(house: House) -> None:
    house.agent.replies = [AgentError(code="model_down")]
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        await house.settled()
    assert steps_of(house, "failed") == [("ok", "model_down")]
    assert house.column("SELECT error FROM turn") == ["model_down"]


async def test_a_stopped_answer_that_says_nothing_is_no_answer(house: House) -> None:
    house.agent.replies = [Answer("", stopped=True)]
    async with house.running():
        house.tg.say("hello", user=MIRA)
        assert await house.answers(1) == ["Stopped."]
        await house.settled()
    assert house.ledger() == [("user", "hello")]
