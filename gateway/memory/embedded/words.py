"""Which words of a query a text holds: enough for a search and for answers by rule."""

from __future__ import annotations

import re
from dataclasses import dataclass

_EAST_ASIAN = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
_WORD = re.compile(rf"({_EAST_ASIAN}+)|((?:(?!{_EAST_ASIAN})\w)+)")
#: a longer word may end otherwise in the text
_WHOLE = 5
_ENDING = 2

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

    size: int
    _pattern: re.Pattern[str] | None

    def count(self, text: str) -> int:
        """Return how many different words of the query the text holds."""
        if self._pattern is None:
            return 0
        return len({match.lastindex for match in self._pattern.finditer(text.casefold())})


def query(text: str) -> Query:
    """Return the telling words of ``text``; all of them when none is telling."""
    stems = _stems(text.casefold())
    if not stems:
        whole = text.strip().casefold()
        stems = [re.escape(whole)] if whole else []
    pattern = "|".join(f"({stem})" for stem in stems)
    return Query(len(stems), re.compile(pattern) if stems else None)


def _stems(folded: str) -> list[str]:
    telling: dict[str, None] = {}
    every: dict[str, None] = {}
    for east_asian, word in _WORD.findall(folded):
        for part in _pairs(east_asian) if east_asian else [word]:
            stem = part if east_asian else rf"(?<!\w){re.escape(_stem(part))}"
            every[stem] = None
            if part not in _COMMON and part not in _COMMON_PAIRS:
                telling[stem] = None
    return list(telling or every)


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(max(1, len(run) - 1))]


def _stem(word: str) -> str:
    return word if len(word) <= _WHOLE else word[:-_ENDING]
