"""Which words of a query a text holds: enough for a search and for answers by rule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_EAST_ASIAN_RANGES = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_EAST_ASIAN = f"[{_EAST_ASIAN_RANGES}]"
#: no letter of the same word stands before; East Asian text has no gaps between words
_BEGIN = rf"(?<![^\W{_EAST_ASIAN_RANGES}])"
_WORD = re.compile(rf"({_EAST_ASIAN}+)|((?:(?!{_EAST_ASIAN})\w)+)")
#: words up to this length stay whole; longer ones may end otherwise in the text
_SHORT, _LONG = 3, 5
#: words of a query that are looked for
_MAX_WORDS = 32

#: words that every second sentence holds, folded
_SMALL_WORDS = """
a about am an and any are as at be been but by can could did do does for from had has have he
her him his how i if in into is it its know let me my no not of on or our she should so tell
than that the their them then there these they this to us was we were what when where which
who whom whose why will with would you your

а без бы был была были было в вам вас во вот все вы где да для до его ее если есть еще же за и
из или им их к как какая какие какой когда кто ли мне мной мой моя мы на над нам нас не него
нет ни но о об он она они от по под при про с так там то тоже ты у уже что это этот я
"""
_COMMON = frozenset(_SMALL_WORDS.split())
_COMMON_PAIRS = frozenset(
    ["什么", "怎么", "我的", "你的", "是什", "的是", "有没", "没有", "知道", "多少"]
)


@dataclass(frozen=True, slots=True)
class Query:
    """The words of a query, ready to be counted in many texts."""

    #: a word's stem, and what tells that it begins a word; None: it may stand anywhere
    _stems: tuple[tuple[str, re.Pattern[str] | None], ...]

    @property
    def size(self) -> int:
        """Return how many different words are counted."""
        return len(self._stems)

    def count(self, text: str) -> int:
        """Return how many different words of the query the text holds."""
        return len(self.which(text))

    def which(self, text: str) -> tuple[int, ...]:
        """Return the numbers of the query's words that the text holds."""
        folded = text.casefold()
        return tuple(
            number
            for number, (stem, start) in enumerate(self._stems)
            if stem in folded and (start is None or start.search(folded) is not None)
        )


def query(text: str) -> Query:
    """Return the telling words of ``text``, the longest if there are many; all if none is."""
    folded = text.casefold()
    every = list(_words(folded))
    telling = [stem for stem, is_common in every if not is_common]
    stems = dict.fromkeys(telling or (stem for stem, _ in every))
    whole = folded.strip()
    if not stems and whole:
        stems = dict.fromkeys([(whole, False)])
    longest = sorted(stems, key=lambda stem: -len(stem[0]))[:_MAX_WORDS]
    return Query(tuple((stem, _start(stem) if starts else None) for stem, starts in longest))


def _words(folded: str) -> Iterator[tuple[tuple[str, bool], bool]]:
    """Yield each word's stem, whether it has to begin a word, and whether it is common."""
    for east_asian, word in _WORD.findall(folded):
        if word:
            yield (_stem(word), True), word in _COMMON
        for pair in _pairs(east_asian):
            yield (pair, False), pair in _COMMON_PAIRS


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run) - 1)] or [run] * bool(run)


def _stem(word: str) -> str:
    """Leave out what may end otherwise in the text."""
    if len(word) > _LONG:
        return word[:-2]
    inflected = word.endswith("s") or not word.isascii()
    return word[:-1] if inflected and len(word) > _SHORT else word


def _start(stem: str) -> re.Pattern[str]:
    return re.compile(_BEGIN + re.escape(stem))
