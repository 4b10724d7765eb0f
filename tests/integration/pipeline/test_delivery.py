"""Answers on their way: lost, refused, slowed down, without a question; and empty ones."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from gateway.model.ids import TurnId
from gateway.policy.crashes import MOST
from gateway.ports import Answer
from gateway.store import turns
from tests.fakes.household import GROUP, MIRA, TOBIAS
from tests.integration.pipeline.support import SPEED, House, mention, steps_of

LONG = "\n\n".join(f"Paragraph {number}: " + "word " * 390 for number in range(5))


async def test_a_lost_answer_is_unknown_and_not_sent_again(house: House) -> None:
    house.tg.lose("sendMessage")
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        await house.settled()
    async with house.running():
        house.tg.say("/trace", user=MIRA)
        texts = await house.answers(2)
        await house.settled()
    assert texts[0] == "re: hello"
    assert "delivered: unknown part 1" in texts[1]
    assert house.column("SELECT state FROM outbox ORDER BY id") == ["unknown", "delivered"]
    assert house.ledger("m.role, l.state") == [("user", "saved"), ("assistant", "saved")]
    assert house.column("SELECT state FROM turn") == ["settled"]


@pytest.mark.parametrize("fault", ["truncate", "malformed"])
async def test_an_unreadable_answer_to_a_send_is_unknown(house: House, fault: str) -> None:
    getattr(house.tg, fault)("sendMessage")
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.settled()
    assert house.column("SELECT state FROM outbox ORDER BY id") == ["unknown"]
    assert len(house.tg.calls_of("sendMessage")) == 1


async def test_a_refused_connection_is_tried_again(house: House) -> None:
    """Nothing was handed over: sending again cannot double anything."""
    house.agent.hold()
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.runs(1)
        await house.tg.stop()
        house.agent.release()
        await house.until(lambda: house.column("SELECT attempts FROM outbox") >= [2], "retries")
        await house.tg.start()
        assert await house.answers(1) == ["re: hello"]
        await house.settled()
    assert house.column("SELECT state FROM outbox ORDER BY id") == ["delivered"]


async def test_a_send_at_which_the_process_dies_each_time_ends_as_unknown(house: House) -> None:
    """It may have arrived at any of them."""
    house.agent.hold()
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.runs(1)
        await house.tg.stop()
        house.agent.release()
        await house.until(lambda: house.column("SELECT attempts FROM outbox") >= [1], "a try")
    with closing(sqlite3.connect(house.home.database)) as database, database:
        database.execute("UPDATE outbox SET state = 'sending'")
        crashed = "UPDATE item SET crashes = ?, run_at = 0 WHERE lane = 'deliver'"
        database.execute(crashed, (MOST,))
    await house.tg.start()
    async with house.running():
        await house.settled()
    ended = [("unknown", f"given up after {MOST} crashes")]
    assert house.rows("SELECT state, error FROM outbox") == ended
    assert house.texts() == []


async def test_a_wait_in_one_chat_is_obeyed_there_and_delays_no_other(house: House) -> None:
    """H-34: never sooner than asked, in order, each part once."""
    house.agent.answer = lambda request: LONG if request.spoken[0].text == "tell me" else "quick"
    house.tg.fail("sendMessage", 429, retry_after=30, chat=MIRA)
    async with house.running():
        house.tg.say("tell me", user=MIRA)
        [first] = await house.tg.wait_for_calls("sendMessage")
        house.tg.say("hello", user=TOBIAS)
        assert await house.answers(1, TOBIAS) == ["quick"]
        assert house.texts(MIRA) == []
        parts = await house.answers(3)
        await house.settled()
    assert " ".join(parts).split() == LONG.split()
    sends = [
        call.at for call in house.tg.calls_of("sendMessage") if call.args["chat_id"] == str(MIRA)
    ]
    assert sends[0] == first.at
    assert sends[1] - sends[0] >= 30 / SPEED * 0.95
    assert house.column("SELECT state FROM outbox WHERE place = ?", str(MIRA)) == ["delivered"] * 3


async def test_a_person_who_blocked_the_bot_costs_nobody_else_an_answer(house: House) -> None:
    """H-35: the answer was never said; the next message clears the mark."""
    house.agent.hold()
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.runs(1)
        house.tg.block(MIRA)
        house.tg.say("me too", user=TOBIAS)
        house.agent.release()
        assert await house.answers(1, TOBIAS) == ["re: me too"]
        await house.settled()
        assert house.texts(MIRA) == []
        ledger = house.ledger("m.text, l.state, l.reason")
        assert ("hello", "saved", "") in ledger
        assert ("re: hello", "skipped", "undelivered") in ledger
        house.tg.say("back again", user=MIRA)
        assert await house.answers(1) == ["re: back again"]
        await house.settled()
    assert house.agent.runs[-1].history == ["hello"]
    calls = [call for call in house.tg.calls_of("sendMessage") if call.error == 403]
    assert len(calls) <= 1
    assert house.column("SELECT state FROM turn") == ["settled"] * 3


async def test_a_refusal_marks_a_chat_that_no_notice_told_of(house: House) -> None:
    """H-35."""
    house.tg.fail("sendMessage", 403, "Forbidden: bot was blocked by the user", chat=MIRA)
    house.agent.answer = lambda _: LONG
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.settled()
        assert len(house.tg.calls_of("sendMessage")) == 1
        assert house.column("SELECT state FROM outbox ORDER BY id") == ["failed"] * 3
        house.tg.say("again", user=MIRA)
        await house.answers(3)
        await house.settled()
    assert house.column("SELECT state FROM outbox ORDER BY id")[3:] == ["delivered"] * 3


async def test_a_deleted_question_is_answered_without_a_reference(house: House) -> None:
    """H-36: all parts arrive, once."""
    house.agent.answer = lambda _: LONG
    house.agent.hold()
    async with house.running():
        message = house.tg.say("tell me", user=MIRA)
        await house.runs(1)
        house.tg.delete(MIRA, message)
        house.agent.release()
        parts = await house.answers(3)
        await house.settled()
    assert " ".join(parts).split() == LONG.split()
    assert all("reply_to_message" not in answer for answer in house.tg.answers(MIRA))
    assert house.column("SELECT state FROM outbox ORDER BY id") == ["delivered"] * 3


@pytest.mark.parametrize(
    "empty",
    [
        "",
        " \n\t",
        "\u200b",
        "```\n```",
        "\0",
    ],
)
async def test_an_empty_answer_becomes_a_short_notice(house: House, empty: str) -> None:
    """H-33: nothing empty is sent, remembered or shown to the model again."""
    house.agent.replies = [empty]
    async with house.running():
        house.tg.say("hello", user=MIRA)
        assert await house.answers(1) == [
            "I have nothing to say to that. Try putting it differently?"
        ]
        house.tg.say("again", user=MIRA)
        await house.answers(2)
        await house.settled()
    assert house.agent.runs[1].history == ["hello"]
    assert house.ledger() == [("user", "hello"), ("user", "again"), ("assistant", "re: again")]
    assert house.column("SELECT state FROM turn") == ["settled"] * 2


@pytest.mark.parametrize(
    "text",
    [
        *("---", "- ", "# ", "> ", "|a|\n|-|", "![](x.png)", "<b></b>", "&nbsp;", "**\u200b**"),
        *("<!-- note -->", "[](https://example.org)", "[x]: https://example.org"),
    ],
)
async def test_whatever_the_model_writes_is_answered_with_something(
    house: House, text: str
) -> None:
    """H-33: markup that shows little or nothing leaves no turn hanging."""
    house.agent.replies = [text]
    async with house.running():
        house.tg.say("hello", user=MIRA)
        [answer] = await house.answers(1)
        await house.settled()
    assert answer.strip()
    assert house.column("SELECT state FROM turn") == ["settled"]
    assert house.column("SELECT count(*) FROM ledger WHERE state = 'held'") == [0]


@pytest.mark.parametrize("text", ["   ", "\u200b"])
async def test_an_empty_message_reaches_no_model(house: House, text: str) -> None:
    """H-33: no run, no row; the copy stays silent too."""
    async with house.running():
        house.tg.say(text, user=MIRA, entities=[])
        [notice] = await house.answers(1)
        house.tg.duplicate()
        await house.settled()
    assert notice.startswith("Yes? Write your question along with my name")
    assert house.texts() == [notice]
    assert house.agent.runs == []
    assert house.ledger() == []


async def test_a_bare_mention_gets_a_help_line(house: House) -> None:
    """H-33."""
    async with house.running():
        house.tg.say(mention(), user=MIRA, chat=GROUP)
        [notice] = await house.answers(1, GROUP)
        await house.settled()
    assert notice.startswith("Yes? Write your question along with my name")
    assert house.ledger() == []


async def test_a_file_that_cannot_be_opened_is_named(house: House) -> None:
    async with house.running():
        sticker = {"file_id": "s", "file_unique_id": "u", "type": "regular"}
        house.tg.say(user=MIRA, sticker=sticker)
        document = house.tg.file(b"\0\1", name="x") | {"file_name": "[x]\n# plan.pdf"}
        house.tg.say(user=MIRA, document=document)
        texts = await house.answers(2)
        await house.settled()
    assert "I cannot open this yet: sticker." in texts[0]
    assert "(x) # plan.pdf (2 B): I cannot read this kind of file." in texts[1]
    assert house.agent.runs == []


async def test_service_messages_make_no_turn(house: House) -> None:
    """H-33."""
    async with house.running():
        member = [{"id": 5, "is_bot": False, "first_name": "New"}]
        house.tg.say(user=MIRA, chat=GROUP, new_chat_members=member)
        house.tg.say(user=MIRA, chat=GROUP, new_chat_title="Another title")
        await house.silence()
    assert house.agent.runs == []


async def test_what_a_platform_refuses_for_good_fails_and_lets_the_next_through(
    house: House,
) -> None:
    house.tg.fail("sendMessage", 400, "MESSAGE_SOMETHING_NEW")
    async with house.running():
        house.tg.say("one", user=MIRA)
        await house.settled()
        house.tg.say("two", user=MIRA)
        assert await house.answers(1) == ["re: two"]
        await house.settled()
    assert house.column("SELECT state FROM outbox ORDER BY id") == ["failed", "delivered"]
    assert house.ledger("m.text, l.state, l.reason")[1] == ("re: one", "skipped", "undelivered")


async def test_the_trace_keeps_what_the_model_took(house: House) -> None:
    house.agent.replies = [Answer("yes", model="test:big", requests=2, input_tokens=9)]
    async with house.running() as gateway:
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        await house.settled()
        turn = TurnId(house.column("SELECT id FROM turn")[0])
        usage = await gateway.store.read(lambda conn: turns.usage(conn, turn))
    assert usage is not None
    assert usage["model"] == "test:big"
    assert steps_of(house, "settled") == [("ok", "")]


async def test_a_platform_that_is_off_keeps_its_answers_for_later(house: House) -> None:
    """``chat`` beside a stopped gateway must not give up what waits for Telegram."""
    house.agent.hold()
    async with house.running() as gateway:
        house.tg.say("hello", user=MIRA)
        await house.runs(1)
        await gateway.engine.stop(0)
    house.agent.release()
    async with house.running(platforms=False):
        await house.until(lambda: house.column("SELECT state FROM turn") == ["answered"], "answer")
        await house.until(
            lambda: [each[4] for each in house.live()] == ["platform_off"], "the part waits"
        )
    assert house.texts() == []
    async with house.running():
        [text] = await house.answers(1)
        assert text.startswith("re: hello")
        await house.settled()


async def test_a_send_that_only_waits_for_its_pace_has_not_begun(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill in the wait would make it unknown on a platform that cannot be asked."""
    waits, go = asyncio.Event(), asyncio.Event()

    async def ready(_address: object) -> None:
        waits.set()
        await go.wait()

    async with house.running() as gateway:
        monkeypatch.setattr(gateway.adapters[0], "ready", ready)
        house.tg.say("hello", user=MIRA)
        await waits.wait()
        assert house.column("SELECT state FROM outbox") == ["waiting"]
    async with house.running():
        [answer] = await house.answers(1)
        await house.settled()
    assert answer.startswith("re: hello")
    assert house.column("SELECT state FROM outbox") == ["delivered"]
