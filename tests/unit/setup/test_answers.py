"""Answers from a file: what is unknown, missing, wrong or in vain is named, all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway.setup import judging
from gateway.setup.answers import KNOWN, AnswersError, FileAsker
from gateway.setup.asking import NO, YES, Accounts, Choice, Line, Option, Pairs, yes_or_no
from tests.architecture.sources import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Asking = Callable[[FileAsker], object]
    Question = Choice | Line | Accounts | Pairs

WHO = Choice("who.answer", "?", (Option("just-me", "a"), Option("keep", "b")), "keep", must=True)
KEY = Line("memory.key", "?", secret=True, must=True, check=judging.secret)
NAME = Line("name", "?", default="mira", suggestion="root")
IDS = Accounts("platforms.telegram.allow", "?", check=judging.account("telegram"))
MAP = Pairs("who.userPeerAliases", "?", {"telegram:1": "a"}, judging.alias(["telegram"], "hermes"))


@pytest.fixture
def ask(tmp_path: Path) -> Callable[[str], FileAsker]:
    def make(text: str) -> FileAsker:
        path = tmp_path / "answers.yaml"
        path.write_text(text)
        return FileAsker(path)

    return make


@pytest.mark.parametrize(
    ("text", "asking", "answer"),
    [
        ("who: {answer: just-me}", lambda one: one.choose(WHO), "just-me"),
        ("memory: {key: abc}", lambda one: one.line(KEY), "abc"),
        ("", lambda one: one.line(NAME), "mira"),
        ("name: ' ada '", lambda one: one.line(NAME), "ada"),
        ("check: off", lambda one: yes_or_no(one, "check", "?", default=True), False),
        ("check: 'yes'", lambda one: yes_or_no(one, "check", "?", default=False), True),
        ("", lambda one: yes_or_no(one, "check", "?", default=True), True),
        ("platforms: {telegram: {allow: [7, '8']}}", lambda one: one.accounts(IDS), ("7", "8")),
        ("platforms: {telegram: {allow: 7}}", lambda one: one.accounts(IDS), ("7",)),
        ("", lambda one: one.accounts(IDS), ()),
        (
            "who: {userPeerAliases: {telegram:7: b}}",
            lambda one: one.pairs(MAP),
            {"telegram:7": "b"},
        ),
        ("", lambda one: one.pairs(MAP), {"telegram:1": "a"}),
        ("model: {name: x}", lambda one: one.enter("memory", "?", default=True), False),
        ("memory: {}", lambda one: one.enter("memory", "?", default=False), True),
    ],
)
def test_an_answer_is_found(
    ask: Callable[[str], FileAsker], text: str, asking: Asking, answer: object
) -> None:
    assert asking(ask(text)) == answer


@pytest.mark.parametrize(
    ("text", "question", "problem"),
    [
        ("", WHO, "who.answer: is missing; write an answer"),
        ("who: {answer: me}", WHO, "1: who.answer: me is none of just-me, keep"),
        ("who: {answer: [a]}", WHO, "1: who.answer: a list is not a single value"),
        ("memory: {key: a b}", KEY, "memory.key: holds blanks or odd characters; copy it anew"),
        ("nmae: x", None, "1: nmae: unknown answer; did you mean name?"),
        ("a:\n  b: 1", None, "2: a.b: unknown answer; no question has this name"),
        ("model: openai", None, "1: model: unknown answer; its answers have names of their own"),
        ("who: 3", None, "1: who: unknown answer; its answers have names of their own"),
        ("memory: {token: x}", None, "1: memory.token: is not asked for with the other answers"),
        ("platforms: {telegram: {allow: [mira]}}", IDS, "allow: mira is not an account id"),
        ("who: {userPeerAliases: {t:7: hermes}}", MAP, "t:7: hermes is the agent's own name"),
        ("who: {userPeerAliases: 7}", MAP, "7 is no map of account to person"),
    ],
)
def test_a_fault_is_named_with_its_line(
    ask: Callable[[str], FileAsker], text: str, question: Question | None, problem: str
) -> None:
    asker = ask(text)
    _put(asker, question)
    with pytest.raises(AnswersError) as raised:
        asker.finish()
    assert len(raised.value.problems) == 1
    assert problem in raised.value.problems[0]
    assert str(asker._path) in raised.value.problems[0]


def _put(asker: FileAsker, question: Question | None) -> None:
    match question:
        case Choice():
            asker.choose(question)
        case Line():
            asker.line(question)
        case Accounts():
            asker.accounts(question)
        case Pairs():
            asker.pairs(question)


def test_all_faults_are_named_at_once_and_no_secret(ask: Callable[[str], FileAsker]) -> None:
    asker = ask("nmae: x\nmemory: {key: 'not a key'}\nmodel: {key: in-vain}\n")
    asker.line(KEY)
    asker.choose(WHO)
    with pytest.raises(AnswersError) as raised:
        asker.finish()
    told = "\n".join(raised.value.problems)
    assert [name in told for name in ("nmae", "memory.key", "who.answer")] == [True] * 3
    assert "not a key" not in told


def test_whether_memory_follows_may_be_said_in_vain(ask: Callable[[str], FileAsker]) -> None:
    ask("who: {follow: yes}").finish()
    assert yes_or_no(ask(""), "who.follow", "?", default=True, unsaid=NO) is False
    assert yes_or_no(ask("who: {follow: yes}"), "who.follow", "?", default=False) is True


def test_the_page_names_every_answer() -> None:
    page = (ROOT / "docs" / "setup.md").read_text(encoding="utf-8")
    example = page.partition("```yaml")[2].partition("```")[0]
    names = {name.rpartition(".*")[0].rpartition(".")[2] or name for name in KNOWN if "*" in name}
    names |= {name.rpartition(".")[2] for name in KNOWN if "*" not in name} | {"allow", "admins"}
    assert [name for name in sorted(names - {"platforms"}) if name not in example] == []


def test_a_refused_answer_ends_it(ask: Callable[[str], FileAsker]) -> None:
    with pytest.raises(AnswersError, match=r"memory\.key: wrong key \(check: no"):
        ask("").try_again("memory.key", "wrong key", (Option(YES, ""), Option(NO, "")))


@pytest.mark.parametrize(
    ("text", "problem"), [("- a\n", "write `question: answer` pairs"), ("a: [", "answers.yaml:")]
)
def test_a_file_that_is_none_is_refused(
    ask: Callable[[str], FileAsker], text: str, problem: str
) -> None:
    with pytest.raises(AnswersError, match=problem):
        ask(text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AnswersError, match=r"gone\.yaml: there is no such file"):
        FileAsker(tmp_path / "gone.yaml")
