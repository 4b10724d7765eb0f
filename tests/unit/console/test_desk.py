"""Which questions an answer answers."""

from __future__ import annotations

import pytest

from adapters.console.desk import Desk, Question
from adapters.console.sink import StreamScreen
from gateway.model.ids import MessageId


def desk(spec: str) -> tuple[Desk, dict[str, Question]]:
    """Open questions by letters: ``a`` joinable, ``A`` a piped line, ``/`` before a command."""
    filled, questions, screen = Desk(), {}, StreamScreen(1)
    for word in spec.split():
        name = word.removeprefix("/")
        question = Question(MessageId(name), screen, word != name, joinable=name.islower())
        questions[name] = question
        filled.put(question)
    return filled, questions


@pytest.mark.parametrize(
    ("opened", "reply_to", "covered"),
    [
        ("a", "a", "a"),
        ("a b c", "b", "a b"),
        ("a b /c", "c", "c"),
        ("a /b c", "c", "a c"),
        ("a B c", "c", "a c"),
        ("a B", "B", "B"),
        ("a", "z", ""),
        ("a", None, ""),
        ("", "a", ""),
    ],
)
def test_covered(opened: str, reply_to: str | None, covered: str) -> None:
    filled, questions = desk(opened)
    found = filled.covered(MessageId(reply_to) if reply_to else None)
    assert [question.message for question in found] == covered.split()
    filled.settle(found)
    assert {name for name, asked in questions.items() if asked.answered.is_set()} == set(
        covered.split()
    )
    assert filled.covered(MessageId(reply_to) if reply_to else None) == []


def test_a_question_is_found_by_its_message_until_it_is_answered() -> None:
    filled, questions = desk("a b")
    assert filled.asked(MessageId("a")) is questions["a"]
    assert filled.asked(MessageId("z")) is None
    filled.settle(filled.covered(MessageId("b")))
    assert filled.asked(MessageId("a")) is None


def test_a_withdrawn_question_is_not_answered() -> None:
    filled, questions = desk("a b")
    filled.withdraw(questions["a"])
    assert filled.covered(MessageId("b")) == [questions["b"]]
    assert not questions["a"].answered.is_set()
