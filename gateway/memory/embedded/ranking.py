"""Which of many statements fit a question: by their words, and by meaning where there are vectors.

The two orders are fused by rank: what stands high in either comes first.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from math import log
from typing import TYPE_CHECKING, Protocol

from gateway.memory.embedded import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.memory.embedded.deriver import Key, Statement

#: how much the first ranks count before the others: the usual constant of reciprocal ranks
_SMOOTH = 60


class Meaning(Protocol):
    """How close texts are to a query in meaning."""

    async def near(self, query: str, keys: Sequence[Key]) -> Mapping[Key, float]:
        """Return the closeness of those that are close at all; {} where nobody can tell."""
        ...


class Ranker(Protocol):
    """Finds what fits."""

    async def fitting(
        self, query: str, items: Sequence[Statement], *, least: float = 0.0
    ) -> list[Statement]:
        """Return the items that fit, best first, among equals in their given order.

        ``least``: by words, at least this share of the best.
        """
        ...


class ByWords:
    """The ``Ranker`` that needs nothing."""

    async def fitting(
        self, query: str, items: Sequence[Statement], *, least: float = 0.0
    ) -> list[Statement]:
        """See ``Ranker``."""
        order = await asyncio.to_thread(by_words, query, [each.text for each in items], least)
        return [items[number] for number in order]


class Fused:
    """The ``Ranker`` that asks for the meaning too."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning

    async def fitting(
        self, query: str, items: Sequence[Statement], *, least: float = 0.0
    ) -> list[Statement]:
        """See ``Ranker``."""
        keyed = {each.key: number for number, each in enumerate(items) if each.key is not None}
        order = await asyncio.to_thread(by_words, query, [each.text for each in items], least)
        near = await self._meaning.near(query, list(keyed))
        close = [keyed[key] for key in sorted(near, key=lambda key: -near[key])]
        return [items[number] for number in fuse(order, close)]


def by_words(query: str, texts: Sequence[str], least: float = 0.0) -> list[int]:
    """Return the numbers of the texts that hold words of ``query``, best first.

    A word counts the more, the fewer texts hold it; ``least`` goes by the number of words.
    """
    asked = words.query(query)
    held = [asked.which(text) for text in texts]
    common = Counter(word for each in held for word in each)
    weights = [sum(log(1 + len(texts) / common[word]) for word in each) for each in held]
    enough = max(1, least * max(map(len, held), default=0))
    fitting = [number for number, each in enumerate(held) if len(each) >= enough]
    return sorted(fitting, key=lambda number: -weights[number])


def fuse(*orders: Sequence[int]) -> list[int]:
    """Return all numbers of the orders, by the sum of their reciprocal ranks."""
    scores: dict[int, float] = {}
    for order in orders:
        for rank, number in enumerate(order):
            scores[number] = scores.get(number, 0.0) + 1 / (_SMOOTH + rank)
    return sorted(scores, key=lambda number: -scores[number])
