"""The words of a text as a full-text index knows them, and what a query asks for.

Both dialects index these words and nothing else, so they find the same. Case, diacritics and
full-width forms do not count. Chinese, Japanese and Korean put no gaps between words: a run of
theirs is cut into overlapping pairs, and its last character stands alone behind them, so that
any single character begins a word.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAIRED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\u3005\u3006\u30fc]"
_RUN = regex.compile(
    rf"(?P<paired>{_PAIRED}+)|(?P<word>(?:(?!{_PAIRED})[\p{{L}}\p{{N}}\p{{M}}])+)"
)
_MARKS = regex.compile(r"[\u0300-\u036f]+")
_PIECE = regex.compile(r'"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+)')
_PREFIX = regex.compile(r"[\p{L}\p{N}\p{M}]\*\W*$")
#: characters of one word that count; longer ones are no words of a language
_LONGEST = 64
#: words of one query that are looked for
_MOST = 32


@dataclass(frozen=True, slots=True)
class Term:
    """Words that stand behind one another; with ``prefix`` the last is the beginning of one."""

    words: tuple[str, ...]
    prefix: bool = False


#: every group has to be met, by one of its terms
Query = tuple[tuple[Term, ...], ...]


def words(text: str) -> list[str]:
    """Return a text's words in order: letters, digits and marks only."""
    return [word for run, paired in _runs(text) for word in (_pairs(run) if paired else (run,))]


def parse(text: str) -> Query:
    """Return what a query asks for, () where it names no word.

    ``"…"`` is a phrase, a trailing ``*`` a beginning, ``OR`` joins its neighbours; everything
    else, also bad syntax, is words.
    """
    groups: list[tuple[Term, ...]] = []
    joining = False
    for piece in _PIECE.finditer(text):
        if piece[0] in ("OR", "|"):
            joining = bool(groups)
            continue
        terms = list(_terms(piece["phrase"] or piece["word"] or ""))
        if joining and terms:
            groups[-1] += (terms.pop(0),)
            joining = False
        groups += [(term,) for term in terms]
    return tuple(dict.fromkeys(groups))[:_MOST]


def any_of(query: Query) -> Query:
    """Return a query that one of the terms meets."""
    return (tuple(term for group in query for term in group),) if query else ()


def _terms(piece: str) -> Iterator[Term]:
    begins = _PREFIX.search(piece) is not None
    runs = list(_runs(piece))
    behind: list[str] = []
    for place, (run, paired) in enumerate(runs):
        if not paired:
            behind.append(run)
            if place + 1 < len(runs) and not runs[place + 1][1]:
                continue
        if behind:
            last = place == len(runs) - 1 and not paired
            yield Term(tuple(behind), prefix=last and begins)
            behind = []
        if paired:
            yield Term(tuple(_pairs(run)[:-1]) or (run,), prefix=len(run) == 1)


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    for found in _RUN.finditer(_fold(text)):
        if found["paired"]:
            yield found["paired"], True
        else:
            yield found["word"][:_LONGEST], False


def _pairs(run: str) -> list[str]:
    return [f"{one}{other}" for one, other in pairwise(run)] + [run[-1]]


def _fold(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", _MARKS.sub("", folded))
