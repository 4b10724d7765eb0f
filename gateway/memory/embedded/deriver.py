"""The seam for whoever thinks about what was said: from evidence to words, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import datetime

#: conclusions in a representation when the client names no number
DEFAULT_LIMIT = 25


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that was said or concluded, and when."""

    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Known:
    """All that ``observer`` may know of ``observed``, newest first: there is no other evidence."""

    observer: str
    observed: str
    card: tuple[str, ...] = ()
    conclusions: tuple[Statement, ...] = ()
    #: messages of ``observed`` that ``observer`` was there to hear, whole
    said: tuple[Statement, ...] = ()


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
