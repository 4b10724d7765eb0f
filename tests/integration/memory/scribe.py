"""A ledger and what writes it to a real memory service, with a proxy between that makes trouble.

The gateway's time is a fake clock that runs fast; the requests between are real.
"""

from __future__ import annotations

import asyncio
import shutil
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import sqlalchemy as sa

from gateway.mailbox.embedded import EmbeddedEngine
from gateway.mailbox.lanes import Lane
from gateway.mailbox.remote import RemoteMailbox
from gateway.memory.capture import BACKOFF, Capture
from gateway.memory.clients import Endpoint
from gateway.memory.embedded.serve import EmbeddedService
from gateway.memory.honcho import KEY, HonchoMemory
from gateway.memory.lane import MEMORY, Wake
from gateway.memory.membership import Membership
from gateway.memory.rules import CaptureRules
from gateway.memory.watch import Watch
from gateway.model.events import EventKind, InboundEvent, Place, PlaceKind, Sender, SenderKind
from gateway.model.ids import (
    AccountId,
    ConversationKey,
    LedgerKey,
    MessageId,
    PeerId,
    PlaceId,
    PlatformName,
    SessionId,
    TurnId,
)
from gateway.model.memory import Observation
from gateway.policy import observation
from gateway.store import ledger, members, messages, sessions
from gateway.store.sqlite import SqliteStore
from gateway.store.tables import ledger as ledger_table
from gateway.store.tables import session as session_table
from tests.contract.store import samples
from tests.fakes.clock import START, FakeClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from gateway.store.engine import Store, Tx
    from tests.emulators.honcho_proxy import HonchoProxy

WORKSPACE = "household"
MIRA, AGENT = PeerId("mira"), PeerId("hermes")
TALK = SessionId("talk")
NO_OVERRIDE = Observation()

RULES = CaptureRules(
    frequency="async",
    part_limit=25_000,
    agent="hermes",
    agent_peer=AGENT,
    observation=observation.rules("directional", NO_OVERRIDE, NO_OVERRIDE),
)


class Stored(NamedTuple):
    """One message as the service has it."""

    key: str
    peer: str
    text: str
    sent_at: datetime


@dataclass(slots=True)
class Scribe:
    """One gateway's writing half over a store that outlives it."""

    store: Store
    clock: FakeClock
    proxy: HonchoProxy
    #: the service itself, behind the proxy
    service_url: str
    key: str
    rules: CaptureRules = RULES
    #: seconds, real ones, until a write is given up
    timeout: float = 5.0
    engine: EmbeddedEngine = field(init=False)
    memory: HonchoMemory = field(init=False)
    watch: Watch = field(init=False)
    capture: Capture = field(init=False)
    _tasks: list[asyncio.Task[Any]] = field(init=False, default_factory=list)
    _said: int = 0

    # --- life -------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin as a new process would."""
        self.engine = EmbeddedEngine(self.store, self.clock)
        endpoint = Endpoint(self.proxy.address, self.key, WORKSPACE, self.timeout)
        self.memory = HonchoMemory(lambda: endpoint, self.clock)
        wake = Wake(self.engine)
        self.capture = Capture(
            self.clock,
            self.memory,
            lambda: self.rules,
            membership=Membership(self.clock, self.memory, lambda: self.rules),
            wake=wake,
            roll=lambda: 0.0,
        )
        self.watch = Watch(
            self.store, self.clock, self.capture, wake=wake, state=lambda: self.memory.state
        )
        await self.engine.start([Lane(MEMORY, self.capture.handle, BACKOFF, finishes=True)])
        self._tasks = [asyncio.create_task(self.watch.run())]

    async def stop(self, *, grace: float = 5.0) -> None:
        """End as SIGTERM does."""
        await self.watch.drain()
        await self.engine.stop(grace)
        await self._end()

    async def crash(self) -> None:
        """End as SIGKILL does: nothing is given back, nothing written down."""
        for task in asyncio.all_tasks():
            if task.get_name() in ("timer", "control") or task.get_name().startswith("drain "):
                self._tasks.append(task)
        await self._end()

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.memory.aclose()

    # --- what is said -------------------------------------------------------------------------

    async def open(self, name: str = TALK, *, peer: str | None = MIRA) -> SessionId:
        """Open a memory session of a conversation of its own."""
        key = ConversationKey(f"c:{name}")

        def write(tx: Tx) -> None:
            sessions.note(tx, key, _event(name), participant=None, now=self.clock.now())
            owner = None if peer is None else PeerId(peer)
            sessions.open_next(tx, key, SessionId(name), peer=owner, now=self.clock.now())

        await self.store.write(write)
        return SessionId(name)

    async def say(
        self,
        *texts: str,
        to: str = TALK,
        peer: str = MIRA,
        role: str = messages.USER,
        skip: str = "",
        wake: bool = True,
        held: bool = False,
        at: datetime | None = None,
    ) -> list[LedgerKey]:
        """Write texts into the ledger, one turn each, and wake the writer."""

        def write(tx: Tx) -> list[LedgerKey]:
            keys = [
                self._entry(
                    tx, text, SessionId(to), PeerId(peer), role, held=held, skip=skip, at=at
                )
                for text in texts
            ]
            if wake:
                Wake(self.engine)(tx, SessionId(to))
            return keys

        return await self.store.write(write)

    def _entry(
        self,
        tx: Tx,
        text: str,
        session: SessionId,
        peer: PeerId,
        role: str,
        *,
        held: bool,
        skip: str,
        at: datetime | None,
    ) -> LedgerKey:
        self._said += 1
        sent_at = at or START + timedelta(seconds=self._said)
        said = messages.Said(0, role, "", text, sent_at)
        now, turn = self.clock.now(), TurnId(f"t{self._said}")
        message = messages.add(tx, said, session=session, turn=turn)
        entry = ledger.Entry(session, peer, message)
        state = ledger.LedgerState.HELD if held else ledger.LedgerState.DUE
        ledger.add(tx, entry, state, skip=skip, now=now)
        return ledger.key_of(turn, message)

    async def let_go(self, turn: str, *, delivered: bool = True, to: str = TALK) -> None:
        """An answer was delivered, or given up."""

        def write(tx: Tx) -> None:
            (ledger.release if delivered else ledger.skip_undelivered)(tx, TurnId(turn))
            Wake(self.engine)(tx, SessionId(to))

        await self.store.write(write)

    async def close(self, name: str = TALK) -> None:
        """End a session as ``/new`` does."""
        key, now = ConversationKey(f"c:{name}"), self.clock.now()
        await self.store.write(lambda tx: sessions.close(tx, key, reason="command", now=now))

    async def flush(self, name: str = TALK) -> None:
        """Ask for everything, as the command does in another process."""
        wake = Wake(RemoteMailbox(self.clock))
        await self.store.write(lambda tx: wake(tx, SessionId(name), everything=True))

    async def spoil_index(self, value: object, name: str = TALK) -> None:
        """Write something wrong into ``last_saved_index``."""
        statement = sa.text("UPDATE session SET last_saved_index = :value WHERE id = :id")
        values = {"value": value, "id": name}
        await self.store.write(lambda tx: tx.conn.execute(statement, values).rowcount)

    async def turn(self, turn: str, *, rung: str) -> None:
        """Make a turn that says by which rung its peer was named."""
        await self.store.write(
            lambda tx: samples.claim(tx, samples.turn(turn, rung=rung, session=SessionId(TALK)))
        )

    # --- what became of it ------------------------------------------------------------------

    async def rows(self, to: str = TALK) -> list[tuple[str, str]]:
        """Return (state, reason) of a session's rows in order."""
        statement = (
            sa.select(ledger_table.c.state, ledger_table.c.reason)
            .where(ledger_table.c.session_number == sessions.number(SessionId(to)))
            .order_by(ledger_table.c.seq)
        )
        return await self.store.read(
            lambda conn: [(row.state, row.reason) for row in conn.execute(statement)]
        )

    async def states(self, to: str = TALK) -> list[str]:
        """Return the states of a session's rows in order."""
        return [state for state, _ in await self.rows(to)]

    async def index(self, to: str = TALK) -> int:
        """Return a session's ``last_saved_index``."""
        statement = sa.select(session_table.c.last_saved_index).where(session_table.c.id == to)
        return await self.store.read(lambda conn: int(conn.execute(statement).scalar_one()))

    async def current(self, name: str = TALK) -> str:
        """Return the open session of the conversation that began with ``name``."""
        key = ConversationKey(f"c:{name}")
        found = await self.store.read(lambda conn: sessions.find(conn, key))
        assert found is not None
        return str(found.session)

    async def members(self, to: str = TALK) -> dict[PeerId, Observation]:
        """Return the members as they were read back."""
        return await self.store.read(lambda conn: members.of(conn, SessionId(to)))

    async def stored(self, to: str = TALK) -> list[Stored]:
        """Return what the service holds of a session, in its order."""
        found: list[Stored] = []
        path = f"/v3/workspaces/{WORKSPACE}/sessions/{to}/messages/list"
        async with self._direct() as client:
            page, pages = 1, 1
            while page <= pages:
                answer = await client.post(path, params={"page": page, "size": 100}, json={})
                answer.raise_for_status()
                data = answer.json()
                found += [_stored(item) for item in data["items"]]
                page, pages = page + 1, data["pages"]
        return found

    async def delete(self, to: str = TALK) -> None:
        """Delete a session at the service."""
        async with self._direct() as client:
            answer = await client.delete(f"/v3/workspaces/{WORKSPACE}/sessions/{to}")
            answer.raise_for_status()

    def _direct(self) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.AsyncClient(base_url=self.service_url, headers=headers, trust_env=False)

    async def settled(self, *names: str, timeout: float = 20.0) -> None:
        """Let the gateway's time run until no row of the sessions is open."""

        async def all_settled() -> bool:
            states = [state for name in names or (TALK,) for state in await self.states(name)]
            return not {"held", "due", "sending"} & set(states)

        await self.until(all_settled, timeout=timeout)

    async def until(self, reached: Callable[[], Any], *, timeout: float = 20.0) -> None:
        """Let the gateway's time run until something holds."""
        async with asyncio.timeout(timeout):
            while not await reached():
                await self.run_for(1.0)

    async def run_for(self, seconds: float) -> None:
        """Let the gateway's time run, with real work in between."""
        steps = max(1, min(40, round(seconds / 0.5)))
        for _ in range(steps):
            await self.clock.advance(seconds / steps)
            await asyncio.sleep(0.002)


@asynccontextmanager
async def service(folder: Path, template: Path) -> AsyncIterator[EmbeddedService]:
    """Serve the embedded service on a database of its own; ``url`` is where."""
    path = folder / "service.db"
    shutil.copy(template, path)
    store = SqliteStore(path)
    served = EmbeddedService(store, FakeClock(datetime.now(UTC)))
    try:
        yield served
    finally:
        await served.stop()
        await store.close()


def _stored(item: dict[str, Any]) -> Stored:
    return Stored(
        item["metadata"].get(KEY, ""),
        item["peer_id"],
        item["content"],
        datetime.fromisoformat(item["created_at"]),
    )


def _event(name: str) -> InboundEvent:
    return InboundEvent(
        kind=EventKind.MESSAGE,
        platform=PlatformName("telegram"),
        account=AccountId("111"),
        place=Place(PlaceKind.DIRECT, PlaceId(name)),
        message=MessageId("1"),
        sender=Sender(SenderKind.PERSON),
        sent_at=START,
    )


def with_rules(**changes: Any) -> CaptureRules:
    """Return the usual rules with some changes."""
    return replace(RULES, **changes)
