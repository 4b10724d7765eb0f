"""A store that fails or waits when told to, over a real one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

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
