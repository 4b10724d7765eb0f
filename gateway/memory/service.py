"""The memory service of one gateway process: the configured Honcho, or the embedded one."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.mailbox.lanes import Lane
from gateway.memory.by_hand import ByHand
from gateway.memory.capture import BACKOFF, Capture
from gateway.memory.clients import Endpoint, endpoint_of
from gateway.memory.lane import MEMORY, Wake
from gateway.memory.membership import Membership
from gateway.memory.recall import self_sessions
from gateway.memory.seed import Seed
from gateway.memory.tools import MemoryTools
from gateway.memory.watch import Watch
from gateway.model.errors import MemoryUnavailableError
from gateway.store import facts, ledger
from gateway.store.recall import RecallKey

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from gateway.memory.embedded.mind import Faculties
    from gateway.memory.honcho import HonchoMemory
    from gateway.memory.rules import CaptureRules
    from gateway.memory.seed import SeedRules
    from gateway.memory.tools import ToolRules
    from gateway.model.ids import SessionId
    from gateway.ports import AgentTool, Asker, Clock
    from gateway.settings.home import Home
    from gateway.settings.schema import HonchoSettings, Settings
    from gateway.store.engine import Store

    Work = Callable[[], Coroutine[object, object, None]]

#: messages that honcho_context shows
LATEST = 20
#: name of the fact that says who thinks in the embedded service
THINKING = "memory:thinking"


@dataclass(frozen=True, slots=True)
class Service:
    """The client, and what has to run for it to be of use (None: it runs elsewhere)."""

    memory: HonchoMemory
    #: what runs beside the lanes, under its name
    background: Mapping[str, Work] = field(default_factory=dict)
    #: lanes of the embedded service, which thinks behind the requests
    lanes: tuple[Lane, ...] = ()
    release: Work | None = None

    async def aclose(self) -> None:
        """Release connections and what was lent."""
        await self.memory.aclose()
        if self.release is not None:
            await self.release()


def open_service(
    settings: Settings,
    honcho: HonchoSettings,
    store: Store,
    clock: Clock,
    *,
    lend: Callable[[], Faculties] | None = None,
) -> Service | None:
    """Return the service that the configuration names; None where memory is switched off.

    ``lend`` gives what the embedded service may think with; without it, nothing is thought about
    behind the requests. Nothing is connected or started yet. Raises ``ConfigurationError`` for a
    service that has neither a key nor an address.
    """
    from gateway.memory.honcho import HonchoMemory

    if settings.memory.provider == "honcho":
        if honcho.enabled is False:
            return None
        endpoint = endpoint_of(honcho)
        return Service(HonchoMemory(lambda: endpoint, clock))
    embedded = _Embedded(store, clock, honcho, None if lend is None else lend())
    return Service(
        HonchoMemory(embedded.where, clock),
        {"memory service": embedded.run, "memory sweep": embedded.service.sweep},
        tuple(embedded.service.lanes),
        embedded.release,
    )


def open_tools(
    service: Service | None,
    store: Store,
    clock: Clock,
    *,
    rules: Callable[[], ToolRules],
    seed: Callable[[], SessionId | None],
) -> list[AgentTool]:
    """Return what the model may call; nothing where memory is switched off.

    ``seed`` names the session that holds the agent's own files.
    """
    if service is None:
        return []

    async def recent(session: SessionId) -> list[tuple[str, str]]:
        said = await store.read(lambda conn: ledger.history(conn, session, limit=LATEST))
        return [(one.author or one.role, one.text) for one in said]

    async def own_sessions(asker: Asker) -> tuple[SessionId, ...]:
        key = RecallKey(asker.session, asker.peer, asker.audience)
        return await store.read(lambda conn: self_sessions(conn, key, seed()))

    return MemoryTools(
        service.memory,
        rules,
        recent=recent,
        own_sessions=own_sessions,
        by_hand=ByHand(store, clock),
    ).build()


@dataclass(frozen=True, slots=True)
class Seeding:
    """Whose files are seeded, and who hears of it."""

    home: Home
    rules: Callable[[], SeedRules]
    seeded: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Capturing:
    """The writing half, ready to be run; nothing at all where memory is switched off."""

    lanes: tuple[Lane, ...] = ()
    #: what runs beside the lanes, under its name
    background: Mapping[str, Work] = field(default_factory=dict)
    #: what lets everything go before the process stops
    drain: Work | None = None


def open_capture(
    service: Service | None,
    store: Store,
    clock: Clock,
    *,
    wake: Wake,
    rules: Callable[[], CaptureRules],
    seeding: Seeding,
) -> Capturing:
    """Put the writing half together."""
    if service is None:
        return Capturing()
    memory = service.memory
    membership = Membership(clock, memory, rules)
    capture = Capture(clock, memory, rules, membership=membership, wake=wake)
    watch = Watch(store, clock, capture, wake=wake, state=lambda: memory.state)
    seed = Seed(
        seeding.home,
        store,
        clock,
        memory=memory,
        rules=seeding.rules,
        introduce=membership.introduce,
        seeded=seeding.seeded,
    )
    background = {"memory": watch.run, "seed": seed.run, **service.background}
    lane = Lane(MEMORY, capture.handle, BACKOFF, concurrency=8, finishes=True)
    return Capturing((lane, *service.lanes), background, watch.drain)


class _Embedded:
    """Runs the embedded service, which has no address before that."""

    def __init__(
        self, store: Store, clock: Clock, honcho: HonchoSettings, lent: Faculties | None
    ) -> None:
        from gateway.memory.embedded.serve import EmbeddedService

        self.service = EmbeddedService(store, clock, lent=lent)
        self._store = store
        self._clock = clock
        self._lent = lent
        self._honcho = honcho
        self._url = ""

    def where(self) -> Endpoint:
        if not self._url:
            raise MemoryUnavailableError("the memory service is starting", code="memory_starting")
        honcho = self._honcho
        return Endpoint(self._url, self.service.key, honcho.workspace, honcho.timeout)

    async def run(self) -> None:
        """Serve until cancelled."""
        self._url = await self.service.start()
        try:
            await self._tell()
            await asyncio.Event().wait()
        finally:
            await self.service.stop()

    async def _tell(self) -> None:
        """Say for ``memory status`` who thinks."""
        if self._lent is not None:
            told, now = json.dumps(self._lent.described()), self._clock.now()
            await self._store.write(lambda tx: facts.put(tx, THINKING, told, now=now))

    async def release(self) -> None:
        """Release what was lent."""
        if self._lent is not None:
            await self._lent.aclose()
