"""Questions as values, and who answers them: somebody at a terminal, or a file of answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    #: says what is wrong with an answer, None when it can be meant
    Check = Callable[[str], str | None]

YES, NO = "yes", "no"


class StoppedError(Exception):
    """Whoever answers went away: nothing may be saved."""


@dataclass(frozen=True, slots=True)
class Option:
    """One of several answers. ``key`` is what a file of answers says."""

    key: str
    label: str
    #: a letter that stands for it in a list instead of its number
    letter: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer of a list. ``id`` is its place in a file of answers."""

    id: str
    text: str
    options: tuple[Option, ...]
    default: str
    #: a file of answers must hold it
    must: bool = False
    #: what a file means that does not hold it, "" for the default
    unsaid: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text, checked as soon as it is given."""

    id: str
    text: str
    #: taken for an empty line; a stored secret is never shown
    default: str = ""
    #: taken for a person's empty line where there is no default; a file has to say it
    suggestion: str = ""
    #: what an empty line means, in words, where there is no default to be shown
    empty: str = ""
    secret: bool = False
    #: a file of answers must hold it, whatever the default
    must: bool = False
    check: Check = field(default=lambda _: None)

    @property
    def for_empty(self) -> str | None:
        """Return what a person's empty line stands for, None where it is no answer."""
        return self.default or self.suggestion or ("" if self.empty else None)


@dataclass(frozen=True, slots=True)
class Accounts:
    """Some accounts of a platform: people who were seen are offered, any id can be given."""

    id: str
    text: str
    #: keys are ids
    seen: tuple[Option, ...] = ()
    #: taken when nothing is answered
    default: tuple[str, ...] = ()
    check: Check = field(default=lambda _: None)


@dataclass(frozen=True, slots=True)
class Pairs:
    """A map of names, shown and changed as a whole."""

    id: str
    text: str
    present: Mapping[str, str]
    check: Callable[[str, str], str | None] = field(default=lambda _key, _value: None)


class Asker(Protocol):
    """Answers one question at a time. Every method may raise ``StoppedError``."""

    def say(self, text: str = "") -> None:
        """Tell something; nothing is expected."""
        ...

    def enter(self, section: str, text: str, *, default: bool) -> bool:
        """Ask whether to go into a section, which a file of answers says by having it."""
        ...

    def choose(self, question: Choice) -> str:
        """Return the key of the chosen option."""
        ...

    def line(self, question: Line) -> str:
        """Return one line of text."""
        ...

    def accounts(self, question: Accounts) -> tuple[str, ...]:
        """Return ids."""
        ...

    def pairs(self, question: Pairs) -> Mapping[str, str]:
        """Return the whole map as it shall be."""
        ...

    def refused(self, question: str, problem: str) -> None:
        """Say why an answer cannot be taken, so that it is asked for again.

        Raises ``AnswersError`` where nobody is there to ask.
        """
        ...

    def try_again(self, question: str, problem: str, options: tuple[Option, ...]) -> str:
        """Like ``refused``, with a choice of what to do; the first option is to try again."""
        ...


_YES_OR_NO = (Option(YES, "yes"), Option(NO, "no"))


def yes_or_no(asker: Asker, question: str, text: str, *, default: bool, unsaid: str = "") -> bool:
    """Ask something that can be answered by yes or no."""
    usual = YES if default else NO
    return asker.choose(Choice(question, text, _YES_OR_NO, usual, unsaid=unsaid)) == YES


def is_yes_or_no(question: Choice) -> bool:
    """Tell whether a question was asked by ``yes_or_no``."""
    return question.options == _YES_OR_NO
