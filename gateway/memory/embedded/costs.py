"""What thinking costs: counted by the hour, and kept within bounds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.memory.embedded import tables
from gateway.ports.thinking import Usage
from gateway.store import statements

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import datetime

    from gateway.memory.embedded.values import Json
    from gateway.ports import Clock, Completer, Prompt
    from gateway.ports.thinking import Shape
    from gateway.store.engine import Store, Tx

cost = tables.cost

DERIVE, SUMMARY, ANSWER = "derive", "summary", "answer"
#: kinds that share one bound; answers have the same for themselves
BACKGROUND = (DERIVE, SUMMARY)
#: how long figures are kept
_KEPT = timedelta(days=90)


class OverBudgetError(Exception):
    """The hour's calls are used up; ``wait`` is the seconds until there are more."""

    def __init__(self, wait: float) -> None:
        super().__init__(f"no more calls in this hour, {wait:.0f} s left")
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Meter:
    """A completer whose calls are counted, and refused beyond ``limit`` an hour."""

    store: Store
    clock: Clock
    completer: Completer
    limit: int

    async def complete(self, kind: str, prompt: Prompt, shape: type[Shape]) -> Shape:
        """Ask for a form. Raises ``OverBudgetError`` or ``AgentError``."""
        await self._take(kind)
        usage = Usage()
        try:
            return await self.completer.complete(prompt, shape, usage)
        finally:
            await self._add(kind, usage)

    async def stream(self, kind: str, prompt: Prompt) -> AsyncIterator[str]:
        """Ask for a text. Raises ``OverBudgetError`` or ``AgentError``."""
        await self._take(kind)
        usage = Usage()
        try:
            async for piece in self.completer.stream(prompt, usage):
                yield piece
        finally:
            await self._add(kind, usage)

    async def text(self, kind: str, prompt: Prompt) -> str:
        """Ask for a text, whole."""
        return "".join([piece async for piece in self.stream(kind, prompt)]).strip()

    async def _take(self, kind: str) -> None:
        now = self.clock.now()
        hour = _hour(now)

        def take(tx: Tx) -> bool:
            kinds = BACKGROUND if kind in BACKGROUND else (kind,)
            used = sa.select(sa.func.sum(cost.c.calls)).where(
                cost.c.hour == hour, cost.c.kind.in_(kinds)
            )
            if (tx.conn.execute(used).scalar() or 0) >= self.limit:
                return False
            _count(tx, hour, kind, calls=1)
            tx.conn.execute(sa.delete(cost).where(cost.c.hour < hour - _KEPT))
            return True

        if not await self.store.write(take):
            raise OverBudgetError((hour + timedelta(hours=1) - now).total_seconds())

    async def _add(self, kind: str, usage: Usage) -> None:
        hour = _hour(self.clock.now())
        tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        if any(tokens.values()):
            await self.store.write(lambda tx: _count(tx, hour, kind, **tokens))


def _hour(now: datetime) -> datetime:
    return now.replace(minute=0, second=0, microsecond=0)


def _count(tx: Tx, hour: datetime, kind: str, **numbers: int) -> None:
    insert = statements.insert(tx.conn, cost).values(hour=hour, kind=kind, **numbers)
    more = {name: cost.c[name] + number for name, number in numbers.items()}
    tx.conn.execute(insert.on_conflict_do_update(index_elements=["hour", "kind"], set_=more))


def spent(conn: sa.Connection, since: datetime) -> dict[str, Json]:
    """Return calls and tokens by kind, from the hour of ``since`` on."""
    names = ("calls", "input_tokens", "output_tokens")
    rows = conn.execute(
        sa.select(cost.c.kind, *(sa.func.sum(cost.c[name]).label(name) for name in names))
        .where(cost.c.hour >= _hour(since))
        .group_by(cost.c.kind)
    ).mappings()
    return {row["kind"]: {name: int(row[name]) for name in names} for row in rows}
