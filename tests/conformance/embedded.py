"""The embedded service in a thread of its own, as a server that clients may block on."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.mailbox.embedded import EmbeddedEngine
from gateway.memory.embedded.mind import Faculties
from gateway.memory.embedded.serve import EmbeddedService
from gateway.ops.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from typing import Any

    from gateway.store.engine import Store


@dataclass(frozen=True, slots=True)
class Server:
    """Where a memory service is, and what opens it."""

    url: str
    key: str
    #: seconds within which what it deletes is gone, and what it was told is found
    patience: float
    #: seconds within which it has thought about what was said; 0: it is not asked
    derives: float
    #: whether it is ours, which keeps rules that others need not keep
    ours: bool


@contextmanager
def running(open_store: Callable[[], Store]) -> Iterator[Server]:
    """Serve the embedded service on the store until the end of the block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="memory-server")
    thread.start()

    def run(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(30)

    async def start() -> tuple[Store, EmbeddedService, EmbeddedEngine, str]:
        store, clock = open_store(), SystemClock()
        engine = EmbeddedEngine(store, clock)
        service = EmbeddedService(store, clock, lent=Faculties(mailbox=engine))
        await engine.start(service.lanes)
        return store, service, engine, await service.start()

    try:
        store, service, engine, url = run(start())
        try:
            yield Server(url, service.key, patience=5.0, derives=5.0, ours=True)
        finally:
            run(service.stop())
            run(engine.stop(5.0))
            run(store.close())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
