"""The memory service of one gateway process: the configured Honcho, or the embedded one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.mailbox.lanes import Lane
from gateway.memory.capture import BACKOFF, Capture
from gateway.memory.clients import Endpoint, endpoint_of
from gateway.memory.lane import MEMORY, Wake
from gateway.memory.membership import Membership
from gateway.memory.recall import self_sessions
from gateway.memory.seed import Seed
from gateway.memory.tools import MemoryTools
from gateway.memory.watch import Watch
from gateway.model.errors import MemoryUnavailableError
from gateway.store import ledger
from gateway.store.recall import RecallKey

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

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


@dataclass(frozen=True, slots=True)
class Service:
    """The client, and what has to run for it to be of use (None: it runs elsewhere)."""

    memory: HonchoMemory
    run: Work | None = None


def open_service(
    settings: Settings, honcho: HonchoSettings, store: Store, clock: Clock
) -> Service | None:
    """Return the service that the configuration names; None where memory is switched off.

    Nothing is connected or started yet. Raises ``ConfigurationError`` for a service that has
    neither a key nor an address.
    """
    from gateway.memory.honcho import HonchoMemory

    if settings.memory.provider == "honcho":
        if honcho.enabled is False:
            return None
        endpoint = endpoint_of(honcho)
        return Service(HonchoMemory(lambda: endpoint, clock))
    embedded = _Embedded(store, clock, honcho)
    return Service(HonchoMemory(embedded.where, clock), embedded.run)


def open_tools(
    service: Service | None,
    store: Store,
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

    return MemoryTools(service.memory, rules, recent=recent, own_sessions=own_sessions).build()


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
    background: dict[str, Work] = {"memory": watch.run, "seed": seed.run}
    if service.run is not None:
        background["memory service"] = service.run
    lane = Lane(MEMORY, capture.handle, BACKOFF, concurrency=8, finishes=True)
    return Capturing((lane,), background, watch.drain)


class _Embedded:
    """Runs the embedded service, which has no address before that."""

    def __init__(self, store: Store, clock: Clock, honcho: HonchoSettings) -> None:
        from gateway.memory.embedded.serve import EmbeddedService

        self._service = EmbeddedService(store, clock)
        self._honcho = honcho
        self._url = ""

    def where(self) -> Endpoint:
        if not self._url:
            raise MemoryUnavailableError("the memory service is starting", code="memory_starting")
        honcho = self._honcho
        return Endpoint(self._url, self._service.key, honcho.workspace, honcho.timeout)

    async def run(self) -> None:
        """Serve until cancelled."""
        self._url = await self._service.start()
        try:
            await asyncio.Event().wait()
        finally:
            await self._service.stop()
