"""What can be said of a person by rule: their own sentences, and never another word."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.memory.embedded.deriver import Known, Question, Statement, Talk, Wish
from gateway.memory.embedded.rules import ByRule, sentences

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def said(*texts: str) -> tuple[Statement, ...]:
    """Messages of one person, the newest first, one a day."""
    return tuple(Statement(text, NOON - timedelta(days=age)) for age, text in enumerate(texts))


def known(*texts: str, conclusions: tuple[str, ...] = (), card: tuple[str, ...] = ()) -> Known:
    return Known("bot", "ann", card, said(*conclusions), said(*texts))


async def represent(what: Known, wish: Wish | None = None) -> str:
    return await ByRule().representation(what, wish or Wish())


async def ask(what: Known, question: str) -> str:
    return "".join([piece async for piece in ByRule().answer(what, Question(question))])


# --- representation ---


async def test_nothing_is_known_of_nobody() -> None:
    assert await represent(Known("bot", "ann")) == ""


async def test_conclusions_and_own_sentences_with_their_dates() -> None:
    text = await represent(known("I moved to Porto.", conclusions=("likes tea",)))
    assert text == (
        "## Explicit Observations\n\n[2026-03-04 12:00:00] likes tea\n\n"
        "## In their own words\n\n[2026-03-04] “I moved to Porto.”"
    )


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("I like tea.", True),
        ("i'm from Porto", True),
        ("I’ve two sons", True),
        ("Call me Ann.", True),
        ("That is mine!", True),
        ("We live in Porto.", True),
        ("Я живу в Порту.", True),
        ("Меня зовут Анна", True),
        ("У меня есть кошка.", True),
        ("мой кот спит", True),
        ("我住在东京。", True),
        ("我们有两只猫", True),
        ("Tea is nice.", False),
        ("Image of an island", False),
        ("Do I like tea?", False),
        ("我喜欢茶吗？", False),
        ("Что мне делать?", False),
        ("Мойка сломалась.", False),
        ("I " + "x" * 400, False),
        ("", False),
    ],
)
async def test_first_person_statements_only(text: str, quoted: bool) -> None:
    assert (await represent(known(text)) != "") is quoted


async def test_the_newest_first_each_once() -> None:
    text = await represent(known("I like tea.", "My cat sleeps. I like tea.", "i LIKE tea."))
    assert re.findall("“(.*)”", text) == ["I like tea.", "My cat sleeps."]


async def test_matches_come_first_and_the_newest_fill_up() -> None:
    facts = known("I eat rice.", "I have a cat.", "I run.", "My cat is old; the cat sleeps.")
    text = await represent(facts, Wish("cat", limit=3))
    assert re.findall("“(.*)”", text) == [
        "I have a cat.",
        "My cat is old; the cat sleeps.",
        "I eat rice.",
    ]
    one = await represent(facts, Wish("cat", limit=2, top_k=1))
    assert re.findall("“(.*)”", one) == ["I have a cat.", "I eat rice."]


async def test_the_limit_counts_both_kinds() -> None:
    facts = known("I eat rice.", "I run.", conclusions=("one", "two"))
    assert re.findall("“(.*)”", await represent(facts, Wish(limit=3))) == ["I eat rice."]
    assert re.findall("“(.*)”", await represent(facts, Wish(limit=2))) == []
    assert "two" not in await represent(facts, Wish(limit=1))


@given(st.lists(st.text(), max_size=5), st.text())
async def test_never_a_word_that_was_not_said(texts: list[str], query: str) -> None:
    text = await represent(known(*texts), Wish(query))
    quotes = [line.split("] ", 1)[1] for line in text.splitlines() if line.startswith("[")]
    assert all(any(quote[1:-1] in message for message in texts) for quote in quotes)


# --- answers ---


async def test_the_lines_that_fit_best() -> None:
    facts = known(
        "I like oolong tea. The weather is bad.",
        "My tea is cold.",
        conclusions=("drinks tea at five",),
        card=("Name: Ann", "Drink: oolong tea"),
    )
    assert (await ask(facts, "Which oolong tea?")).splitlines() == [
        "Drink: oolong tea",
        "[2026-03-04] “I like oolong tea.”",
        "[2026-03-04 12:00:00] drinks tea at five",
        "[2026-03-03] “My tea is cold.”",
    ]
    assert (await ask(facts, "What is her name?")).splitlines() == ["Name: Ann"]


async def test_what_does_not_fit_is_not_told() -> None:
    assert await ask(known("I like tea.", card=("Name: Ann",)), "dinosaurs?") == ""
    assert await ask(Known("bot", "ann"), "anything?") == ""


async def test_questions_are_no_evidence() -> None:
    assert await ask(known("Do I like tea?"), "tea") == ""


async def test_an_answer_is_short() -> None:
    facts = known(*(f"I drank tea number {number}." for number in range(20)))
    assert len((await ask(facts, "tea")).splitlines()) == 5


async def test_a_summary_is_never_made() -> None:
    assert await ByRule().summary(Talk((("ann", said("I like tea.")[0]),))) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three… Four", ["One.", "Two!", "Three…", "Four"]),
        ("Pi is 3.14 now", ["Pi is 3.14 now"]),
        ("a\nb\r\nc", ["a", "b", "c"]),
        ("一。二！三", ["一。", "二！", "三"]),
        ("Really? Yes.", ["Yes."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [each.text for each in sentences(said(text))] == expected
