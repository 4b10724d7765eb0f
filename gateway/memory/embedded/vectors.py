"""Vectors of messages and conclusions: made, kept with their model's name, compared.

A vector of another model than the present one counts as missing and is made anew.
"""

from __future__ import annotations

import array
import asyncio
import sys
from functools import partial
from operator import mul
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
import structlog

from gateway.memory.embedded import tables
from gateway.memory.embedded.deriver import CONCLUSION, MESSAGE
from gateway.model.errors import AgentError
from gateway.store import statements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.memory.embedded.deriver import Key
    from gateway.ports import Embedder
    from gateway.store.engine import Store, Tx

_log = structlog.get_logger(__name__)

vector = tables.vector
_TABLES = {MESSAGE: tables.message, CONCLUSION: tables.conclusion}

#: texts that are encoded at once, and as many as a question waits for; the rest comes later
BATCH, INLINE = 64, 512
#: texts that one question is compared with at most: the newest
MOST = 5000
#: keys that one statement asks for
_PAGE = 500
#: how far above the others a text has to stand to be close: for encoders whose floor is unknown
_SPREADS = 1.5
#: texts from which the others tell anything
_ENOUGH = 8


class Vectors:
    """See ``ranking.Meaning``; a failing encoder leaves searches to their words."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    @property
    def eager(self) -> bool:
        """Whether texts are encoded as they come."""
        return self._embedder.eager

    async def near(self, query: str, keys: Sequence[Key]) -> Mapping[Key, float]:
        """See ``ranking.Meaning``."""
        keys = keys[:MOST]
        if not keys or not query.strip():
            return {}
        try:
            (asked,) = await self._embedder.embed([query])
            held = await self._store.read(lambda conn: self._load(conn, keys))
            missing = [key for key in keys if key not in held][:INLINE]
            if missing:
                await self.make(missing)
                held |= await self._store.read(lambda conn: self._load(conn, missing))
        except AgentError as error:
            _log.warning("memory.no_vectors", action="search", code=error.code)
            return {}
        scores = await asyncio.to_thread(_scores, asked, held)
        return _close(scores, self._embedder.floor)

    async def make(self, keys: Sequence[Key]) -> None:
        """Encode what these keys name, as far as it is there. Raises ``AgentError``."""
        texts = await self._store.read(lambda conn: _texts(conn, keys))
        found = list(texts)
        for start in range(0, len(found), BATCH):
            part = found[start : start + BATCH]
            made = await self._embedder.embed([texts[key] for key in part])
            await self._store.write(partial(self._keep, keys=part, made=made))

    async def missing(self, limit: int) -> list[Key]:
        """Return some of the texts without a vector of the present model, newest first."""
        return await self._store.read(lambda conn: self._missing(conn, limit))

    async def outdated(self) -> bool:
        """Tell whether there are vectors of another model."""
        other = sa.exists().where(vector.c.model != self._embedder.model)
        return await self._store.read(lambda conn: bool(conn.execute(sa.select(other)).scalar()))

    def _missing(self, conn: sa.Connection, limit: int) -> list[Key]:
        found: list[Key] = []
        for kind, table in _TABLES.items():
            there = sa.exists().where(
                vector.c.kind == kind,
                vector.c.item == table.c.id,
                vector.c.model == self._embedder.model,
            )
            query = sa.select(table.c.id).where(~there).order_by(table.c.id.desc()).limit(limit)
            found += [(kind, number) for number in conn.execute(query).scalars()]
        return found[:limit]

    def _load(self, conn: sa.Connection, keys: Sequence[Key]) -> dict[Key, array.array[float]]:
        found: dict[Key, array.array[float]] = {}
        for kind, numbers in _pages(keys):
            query = sa.select(vector.c.item, vector.c.data).where(
                vector.c.kind == kind,
                vector.c.item.in_(numbers),
                vector.c.model == self._embedder.model,
            )
            for number, data in conn.execute(query).tuples():
                found[kind, number] = _unpacked(data)
        return found

    def _keep(self, tx: Tx, keys: Sequence[Key], made: Sequence[Sequence[float]]) -> None:
        # what was deleted meanwhile gets none
        there = _texts(tx.conn, keys)
        rows = [
            {
                "kind": key[0],
                "item": key[1],
                "model": self._embedder.model,
                "dimension": len(each),
                "data": _packed(each),
            }
            for key, each in zip(keys, made, strict=True)
            if key in there
        ]
        if rows:
            insert = statements.insert(tx.conn, vector).values(rows)
            fresh = {name: insert.excluded[name] for name in ("model", "dimension", "data")}
            tx.conn.execute(
                insert.on_conflict_do_update(index_elements=["kind", "item"], set_=fresh)
            )


def _texts(conn: sa.Connection, keys: Sequence[Key]) -> dict[Key, str]:
    found: dict[Key, str] = {}
    for kind, numbers in _pages(keys):
        table = _TABLES[kind]
        query = sa.select(table.c.id, table.c.content).where(table.c.id.in_(numbers))
        found |= {(kind, number): text for number, text in conn.execute(query).tuples()}
    return found


def _pages(keys: Sequence[Key]) -> list[tuple[str, list[int]]]:
    pages = []
    for kind in _TABLES:
        numbers = [number for each, number in keys if each == kind]
        pages += [(kind, numbers[at : at + _PAGE]) for at in range(0, len(numbers), _PAGE)]
    return pages


def _scores(asked: Sequence[float], held: Mapping[Key, Sequence[float]]) -> dict[Key, float]:
    return {
        key: sum(map(mul, asked, each)) for key, each in held.items() if len(each) == len(asked)
    }


def _close(scores: Mapping[Key, float], floor: float) -> dict[Key, float]:
    """Return the scores that stand out: above the floor, and above the crowd."""
    if len(scores) >= _ENOUGH:
        values = list(scores.values())
        floor = max(floor, fmean(values) + _SPREADS * pstdev(values))
    return {key: score for key, score in scores.items() if score >= floor}


def _packed(values: Sequence[float]) -> bytes:
    return _swapped(array.array("f", values)).tobytes()


def _unpacked(data: bytes) -> array.array[float]:
    values = array.array("f")
    values.frombytes(data)
    return _swapped(values)


def _swapped(values: array.array[Any]) -> array.array[Any]:
    """Turn between this machine's order of bytes and the stored, little-endian one."""
    if sys.byteorder == "big":
        values.byteswap()
    return values
