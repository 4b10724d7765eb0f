"""Stores that fail, wait or die when told to, over a real one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from gateway.model.errors import StoreError
from gateway.store.engine import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    import sqlalchemy as sa

    from gateway.store.engine import Tx

T = TypeVar("T")


class FaultyStore(Store):
    """Passes everything on to ``real``, but for what is set up here."""

    def __init__(self, real: Store) -> None:
        self.real = real
        self.engine = real.engine
        #: errors of the next writes, which then change nothing; None lets one pass
        self.faults: list[Exception | None] = []
        #: errors of the next reads
        self.read_faults: list[Exception] = []
        #: cleared: a committed write does not return until it is set
        self.answering = asyncio.Event()
        self.answering.set()
        #: set once a committed write waits for that
        self.holding = asyncio.Event()

    async def write(self, fn: Callable[[Tx], T], *, durable: bool = False) -> T:
        """See ``Store.write``."""
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault
        result = await self.real.write(fn, durable=durable)
        if not self.answering.is_set():
            self.holding.set()
            await self.answering.wait()
        return result

    async def read(self, fn: Callable[[sa.Connection], T]) -> T:
        """See ``Store.read``."""
        if self.read_faults:
            raise self.read_faults.pop(0)
        return await self.real.read(fn)

    async def compact(self) -> bool:
        """See ``Store.compact``."""
        return await self.real.compact()

    async def close(self) -> None:
        """See ``Store.close``."""
        await self.real.close()


class DeadError(StoreError):
    """The process that held this store is gone."""


@dataclass(frozen=True, slots=True)
class Death:
    """The process ends around its so-manieth write: before its commit, or right after it."""

    write: int
    committed: bool


NEVER = Death(1_000_000, committed=True)


class MortalStore(Store):
    """A process's view of the database until it is killed: then nothing gets through any more."""

    def __init__(self, real: Store, death: Death) -> None:
        self.engine = real.engine
        self.dead = asyncio.Event()
        self._real = real
        self._death = death
        self._writes = 0

    async def write(self, fn: Callable[[Tx], T], *, durable: bool = False) -> T:
        """See ``Store.write``."""
        self._writes += 1
        dying = self._writes >= self._death.write
        if self.dead.is_set() or (dying and not self._death.committed):
            self.dead.set()
            raise DeadError
        result = await self._real.write(fn, durable=durable)
        if dying or self.dead.is_set():
            self.dead.set()
            raise DeadError
        return result

    async def read(self, fn: Callable[[sa.Connection], T]) -> T:
        """See ``Store.read``."""
        if self.dead.is_set():
            raise DeadError
        return await self._real.read(fn)

    async def compact(self) -> bool:
        """See ``Store.compact``."""
        return True

    async def close(self) -> None:
        """See ``Store.close``."""
