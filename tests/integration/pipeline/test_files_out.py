"""Files that answers carry, through a whole gateway: sent once, in order, told of when not."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from gateway.model.files import MadeFile
from gateway.policy.documents import MANY_PARTS
from gateway.ports import Answer
from tests.fakes.household import MIRA

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.pipeline.support import House

PLAN = MadeFile("plan.md", "text/markdown", "# План".encode())
LIST = MadeFile("list.csv", "text/csv", b"a,b\n1,2\n")
PNG = MadeFile("picture-1.png", "image/png", b"\x89PNG\r\n\x1a\n")
LONG = "\n\n".join(f"Paragraph {number}: " + "word " * 700 for number in range(MANY_PARTS + 2))


def sent(house: House) -> list[tuple[str, bytes]]:
    return house.tg.sent_files(MIRA)


def words(house: House) -> list[str]:
    return [each["text"] for each in house.tg.answers(MIRA) if "text" in each]


def states(house: House) -> list[str]:
    return house.column("SELECT state FROM outbox ORDER BY id")


def stored(house: House) -> list[Path]:
    return sorted(house.home.files.iterdir())


async def ask(house: House, text: str = "write a plan") -> None:
    async with house.running():
        house.tg.say(text, user=MIRA)
        await house.settled()


async def test_files_follow_the_words_in_order(house: House) -> None:
    house.agent.replies = [Answer("Here you are.", files=(PLAN, LIST, PNG)), "Gladly."]
    await ask(house)
    shown = [
        next(kind for kind in ("text", "document", "photo") if kind in each)
        for each in house.tg.answers(MIRA)
    ]
    assert shown == ["text", "document", "document", "photo"]
    assert sent(house) == [(one.label, one.data) for one in (PLAN, LIST, PNG)]
    assert states(house) == ["delivered"] * 4
    for path in stored(house):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert len(path.stem) == 32
    # memory and history know that they were sent, and no byte of them
    said = "Here you are.\n\n📎 plan.md\n📎 list.csv\n📎 picture-1.png"
    assert house.ledger("m.text, l.state")[1] == (said, "saved")
    assert "План".encode() not in house.stored_bytes()
    await ask(house, "thanks")
    assert house.agent.runs[1].history == ["write a plan", said]


async def test_a_file_alone_is_an_answer(house: House) -> None:
    house.agent.replies = [Answer("", files=(PLAN, PLAN))]
    await ask(house)
    assert words(house) == []
    assert [label for label, _ in sent(house)] == ["plan.md", "plan-2.md"]
    assert house.ledger() == [("user", "write a plan"), ("assistant", "📎 plan.md\n📎 plan-2.md")]
    assert house.column("SELECT state FROM turn") == ["settled"]


async def test_a_file_whose_arrival_is_unknown_is_not_sent_again(house: House) -> None:
    house.agent.replies = [Answer("Here.", files=(PLAN, LIST))]
    house.tg.lose("sendDocument")
    await ask(house)
    assert [label for label, _ in sent(house)] == ["plan.md", "list.csv"]
    assert states(house) == ["delivered", "unknown", "delivered"]
    assert words(house) == ["Here."]


async def test_a_refused_connection_sends_the_file_later(house: House) -> None:
    house.agent.replies = [Answer("", files=(PLAN,))]
    house.tg.fail("sendDocument", 429, retry_after=3)
    await ask(house)
    assert sent(house) == [("plan.md", PLAN.data)]
    assert len(house.tg.calls_of("sendDocument")) == 2


@pytest.mark.parametrize(
    ("code", "words_of_telegram", "told"),
    [
        (400, "not enough rights to send documents to the chat", "I may not send files here"),
        (413, "Request Entity Too Large", "does not take files as large as that"),
        (400, "something new", "did not take it"),
    ],
)
async def test_a_refused_file_is_told(
    house: House, code: int, words_of_telegram: str, told: str
) -> None:
    house.agent.replies = [Answer("Here.", files=(PLAN,)), "still here"]
    house.tg.fail("sendDocument", code, words_of_telegram)
    async with house.running():
        house.tg.say("write a plan", user=MIRA)
        await house.settled()
        house.tg.say("and now?", user=MIRA)
        await house.settled()
    texts = words(house)
    assert texts[0] == "Here."
    assert "plan.md" in texts[1]
    assert told in texts[1]
    assert texts[2] == "still here"  # the place is not taken for lost
    assert states(house) == ["delivered", "failed", "delivered", "delivered"]


async def test_a_photo_that_telegram_cannot_show_goes_as_a_document(house: House) -> None:
    house.agent.replies = [Answer("", files=(PNG,))]
    house.tg.fail("sendPhoto", 400, "PHOTO_INVALID_DIMENSIONS")
    await ask(house)
    assert sent(house) == [("picture-1.png", PNG.data)]
    assert "document" in house.tg.answers(MIRA)[0]


async def test_a_very_long_answer_is_a_document_besides(house: House) -> None:
    house.agent.replies = [LONG]
    await ask(house)
    assert len(words(house)) > MANY_PARTS
    assert sent(house) == [("answer.md", LONG.encode())]
    assert house.ledger()[1] == ("assistant", LONG)


async def test_a_stopped_answer_hands_over_nothing(house: House) -> None:
    house.agent.replies = [Answer("so far", stopped=True, files=(PLAN,))]
    await ask(house)
    assert sent(house) == []
    assert not house.home.files.exists() or not stored(house)


async def test_a_file_that_could_not_be_stored_costs_the_file_alone(house: House) -> None:
    house.home.files.write_text("a file where the folder should be")
    house.agent.replies = [Answer("Here.", files=(PLAN,))]
    await ask(house)
    texts = words(house)
    assert texts[0] == "Here."
    assert "could not store it" in texts[1]
    assert house.ledger()[1] == ("assistant", "Here.")


async def test_a_file_goes_out_after_a_restart_and_is_told_of_when_it_is_gone(
    house: House,
) -> None:
    house.agent.replies = [Answer("", files=(PLAN, LIST))]
    async with house.running():
        house.tg.fail("sendDocument", 429, retry_after=60)
        house.tg.say("write a plan", user=MIRA)
        await house.tg.wait_for_calls("sendDocument")
        await house.until(lambda: states(house) == ["waiting", "waiting"], "both wait")
    lost = house.column("SELECT name FROM file WHERE label = 'list.csv'")[0]
    (house.home.files / lost).unlink()
    async with house.running():
        await house.settled()
    assert sent(house) == [("plan.md", PLAN.data)]
    assert states(house)[:2] == ["delivered", "failed"]
    assert "list.csv" in words(house)[-1]
    assert "not kept any more" in words(house)[-1]
