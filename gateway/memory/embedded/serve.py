"""The embedded service, running in the gateway's own event loop on a port of its own."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from gateway.memory.embedded import app
from gateway.memory.embedded.listener import Listener, bind
from gateway.memory.embedded.memory import Memory
from gateway.memory.embedded.mind import Faculties, make_mind

if TYPE_CHECKING:
    from gateway.mailbox.lanes import Lane
    from gateway.memory.embedded.deriver import Deriver
    from gateway.ports import Clock
    from gateway.store.engine import Store


class EmbeddedService:
    """A memory service of this process alone: loopback, random port, random key.

    Whoever has the key has all workspaces, so it must go nowhere but to our own clients.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        deriver: Deriver | None = None,
        *,
        lent: Faculties | None = None,
    ) -> None:
        """``store`` must be at the present schema and stay open until ``stop`` has returned.

        Whoever lends a mailbox has to run ``lanes`` on it, and ``sweep`` beside them.
        """
        self.key = secrets.token_urlsafe(32)
        mind = make_mind(store, clock, lent or Faculties(), deriver)
        self._memory = Memory(store, clock, mind)
        self._listener: Listener | None = None

    @property
    def lanes(self) -> list[Lane]:
        """The lanes that think behind the requests; [] where no mailbox was lent."""
        thinking = self._memory.mind.thinking
        return [] if thinking is None else thinking.lanes(self._memory)

    async def sweep(self) -> None:
        """Look now and then for what waits and nobody asks for, until cancelled."""
        if (thinking := self._memory.mind.thinking) is not None:
            await thinking.sweep()

    async def start(self) -> str:
        """Listen and return the address for clients, ``http://127.0.0.1:PORT``."""
        bound = bind("127.0.0.1", 0)
        application = app.build(self._memory, self.key)
        self._listener = Listener(application, bound, name="embedded-memory")
        await self._listener.start()
        return f"http://127.0.0.1:{bound.getsockname()[1]}"

    async def stop(self) -> None:
        """Finish running requests, refuse new ones, release the port. May be called twice."""
        if self._listener is not None:
            await self._listener.stop()
