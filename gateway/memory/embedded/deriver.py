"""The seams for whoever thinks about what was said: from evidence to words, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import datetime

    from gateway.memory.embedded.values import PairRef

#: what a statement is kept as: its table and its row there
Key = tuple[str, int]
MESSAGE, CONCLUSION = "message", "conclusion"

#: conclusions in a representation when the client names no number
DEFAULT_LIMIT = 25


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that was said or concluded, and when."""

    text: str
    at: datetime
    #: None: it is kept nowhere by itself
    key: Key | None = None
    #: the words are the person's own
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """All that ``observer`` may know of ``observed``, newest first: there is no other evidence."""

    observer: str
    observed: str
    card: tuple[str, ...] = ()
    conclusions: tuple[Statement, ...] = ()
    #: messages of ``observed`` that ``observer`` was there to hear, whole, and that nobody has
    #: thought about yet
    said: tuple[Statement, ...] = ()
    #: those that were thought about, without those that no longer hold
    heard: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """Which part of a representation is wanted."""

    query: str = ""
    limit: int = DEFAULT_LIMIT
    #: how many of them may be chosen for the query; the rest are the newest
    top_k: int | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a peer, and how hard to think about it."""

    text: str
    level: str = "low"


@dataclass(frozen=True, slots=True)
class Talk:
    """A stretch of a session: who said what, in order, behind what ``previous`` tells."""

    lines: tuple[tuple[str, Statement], ...]
    previous: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a stretch that is thought about."""

    number: int
    author: str
    text: str
    at: datetime
    #: said by the one whom it is about: only such a line can be evidence
    own: bool


@dataclass(frozen=True, slots=True)
class Held:
    """Something that is known already: a conclusion, or a line of a card written by hand."""

    text: str
    at: datetime | None = None
    #: row of the conclusion; None: a line of the card
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """New messages of one session about which one pair has to think, and what it knows."""

    ref: PairRef
    pair: int
    session: str
    lines: tuple[Line, ...]
    #: newest first
    known: tuple[Held, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One new conclusion, checked: from which lines, and what it takes the place of."""

    text: str
    evidence: tuple[int, ...]
    at: datetime
    replaces: tuple[Held, ...] = ()
    lasting: bool = False
    #: the person's own words
    quoted: bool = False


class Deriver(Protocol):
    """Turns evidence into words. May take long; a text is never made from anything else."""

    async def representation(self, known: Known, wish: Wish) -> str:
        """Return what is known as Markdown, "" when that is nothing."""
        ...

    def answer(self, known: Known, question: Question) -> AsyncIterator[str]:
        """Yield the answer piece by piece; nothing at all when nothing is known."""
        ...

    async def summary(self, talk: Talk) -> str | None:
        """Return the stretch, and what went before it, in short; None: there is no summary."""
        ...
