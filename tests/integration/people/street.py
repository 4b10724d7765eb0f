"""A household that talks, a memory service over HTTP, and the lanes between, in one clock's time.

Identity, sessions and ledger rows are made by the gateway's own code; the agent's answers are
invented. Nothing waits really: pacing and pauses only move the clock.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import sqlalchemy as sa

from gateway import app
from gateway.mailbox.drain import Drain
from gateway.mailbox.items import Suspect
from gateway.mailbox.lanes import Lane
from gateway.mailbox.remote import RemoteMailbox
from gateway.memory.capture import BACKOFF, Capture
from gateway.memory.clients import Endpoint
from gateway.memory.embedded import tables as service_tables
from gateway.memory.embedded.serve import EmbeddedService
from gateway.memory.files import MemoryFiles
from gateway.memory.honcho import KEY, HonchoMemory
from gateway.memory.lane import MEMORY, Wake
from gateway.memory.membership import Membership
from gateway.model.events import EventKind, InboundEvent, Place, PlaceKind, Sender, SenderKind
from gateway.model.ids import (
    AccountId,
    MessageId,
    PlaceId,
    PlatformName,
    ScopeId,
    SessionId,
    UserId,
    new_turn_id,
)
from gateway.model.turn import TurnState
from gateway.people import Rehoming
from gateway.people.follow import REHOME, open_following
from gateway.pipeline.addresses import account_of, address_of
from gateway.pipeline.explain import describe
from gateway.pipeline.opening import Opening
from gateway.pipeline.rules import Current
from gateway.policy.session import conversation_key, parse_key
from gateway.store import homes, ledger, messages, people, sending, sessions, turns
from gateway.store.tables import ledger as ledger_table
from gateway.store.tables import message as message_table
from gateway.store.tables import turn as turn_table
from tests.fakes.skipping import SkippingClock
from tests.integration.people.town import OPERATOR, Town

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.people.follow import Following
    from gateway.settings.home import Home
    from gateway.store.engine import Store, Tx
    from gateway.store.people import Account
    from gateway.store.rehome_jobs import Job


class Killed(BaseException):
    """The process is gone at this point."""


class Kept(NamedTuple):
    """One message as the service holds it."""

    session: str
    peer: str
    key: str


class Street(Town):
    """A town in which people talk."""

    def __init__(self, home: Home) -> None:
        self.time = SkippingClock()
        super().__init__(home, self.time)
        self.mailbox = RemoteMailbox(self.clock)
        self.rehoming = Rehoming(self.service, self.store, self.clock, self.mailbox)
        self.current = Current(app.rules_of(self.load()), stand_in="system-user")
        self.opening = Opening(self.clock, self.current, app.capabilities())
        self.files = MemoryFiles(self.home, lambda: self.current.rules.notes)
        self.drain = Drain(self.store, self.clock)
        self._said = 0
        self._replaced = pytest.MonkeyPatch()
        #: what a service held that was left
        self.before: list[Kept] = []

    @asynccontextmanager
    async def served(self, by: Store | None = None) -> AsyncIterator[Street]:
        """Run the memory service; ``by``: over another database."""
        self.memory_store = by or self.store
        served = EmbeddedService(self.memory_store, self.clock)
        endpoint = Endpoint(await served.start(), served.key, "hermes")
        self.memory = HonchoMemory(lambda: endpoint, self.clock)
        self._begin()
        try:
            yield self
        finally:
            await self.following.memory.aclose()
            await self.memory.aclose()
            await served.stop()

    def kill(self, at: int, *, after: bool) -> None:
        """Let the process die at its ``at``-th write, before or after the service has it."""
        memory, count = self.following.memory, 0
        real = memory.add

        async def add(*args: Any) -> None:
            nonlocal count
            count += 1
            if count == at and not after:
                raise Killed
            await real(*args)
            if count == at:
                raise Killed

        self._replaced.setattr(memory, "add", add)

    async def restart(self) -> None:
        """Make the lanes anew, as the next process does."""
        await self.following.memory.aclose()
        self._begin()

    def _begin(self) -> None:
        capture = Capture(
            self.clock,
            self.memory,
            lambda: self.current.rules.capture,
            membership=Membership(self.clock, self.memory, lambda: self.current.rules.capture),
            wake=Wake(self.mailbox),
            roll=lambda: 0.0,
        )
        self.capture = Lane(MEMORY, capture.handle, BACKOFF)
        self.following: Following = open_following(
            self.memory,
            self.clock,
            rules=lambda: self.current.rules.capture,
            ground=self.service.ground,
            revision=lambda: "",
            home=self.home,
            files=self.files,
        )

    # --- talking -----------------------------------------------------------------------------

    async def say(self, account: Account, text: str = "", *, group: str = "") -> None:
        """One message and its answer, as a turn leaves them behind."""
        self.current.rules = app.rules_of(self.load())
        self._said += 1
        self.time.elapsed += 1.0
        event = self._event(account, text or f"words {self._said} of {account.user_id}", group)
        await self.store.write(lambda tx: self._turn(tx, event))

    def _event(self, account: Account, text: str, group: str) -> InboundEvent:
        kind = PlaceKind.GROUP if group else PlaceKind.DIRECT
        scope = ScopeId(account.scope) if account.scope else None
        return InboundEvent(
            kind=EventKind.MESSAGE,
            platform=PlatformName(account.platform),
            account=AccountId(f"bot-{account.platform}"),
            place=Place(kind, PlaceId(group or f"dm-{account.user_id}")),
            message=MessageId(str(self._said)),
            sender=Sender(SenderKind.PERSON, UserId(account.user_id), scope),
            sent_at=self.clock.now(),
            text=text,
        )

    def _turn(self, tx: Tx, event: InboundEvent) -> None:
        now, rules = self.clock.now(), self.current.rules
        people.seen(tx, account_of(event), name="", language="", now=now)
        sharing: Any = "shared" if event.place.id.startswith("shared") else "per-user"
        key = conversation_key(
            event, profile="default", group_sessions=sharing, thread_sessions="shared"
        )
        sessions.note(tx, key, event, participant=parse_key(key).participant, now=now)
        identity, session = self.opening.enter(tx, event, key)
        turn = turns.Turn(
            id=new_turn_id(),
            conversation=key,
            session=session,
            peer=identity.peer,
            rung=identity.rung,
            identity=describe(identity),
            address=address_of(event),
            account=account_of(event),
            reply_to=event.message,
            language="en",
        )
        turns.create(tx, turn, now=now)
        for state in (TurnState.RUNNING, TurnState.ANSWERED, TurnState.SETTLED):
            turns.advance(tx, turn.id, state, now=now)
        for role, peer, text in (
            (messages.USER, turn.peer, event.text),
            (messages.ASSISTANT, rules.agent_peer, f"re: {event.text}"),
        ):
            said = messages.Said(0, role, "", text, now)
            number = messages.add(tx, said, session=session, turn=turn.id)
            entry = ledger.Entry(session, peer, number)
            ledger.add(tx, entry, ledger.LedgerState.DUE, now=now)

    async def captured(self) -> None:
        """Let capture bring everything to the service."""
        waiting = await self.store.read(sending.sessions_with_rows)
        for session in waiting:
            await self.store.write(partial(self._wake, session))
            await self._drained(self.capture, session)

    def _wake(self, session: SessionId, tx: Tx) -> None:
        Wake(self.mailbox)(tx, session)

    async def _drained(self, lane: Lane, key: str) -> None:
        for _ in range(200):
            due = await self.drain.run(lane, key)
            if due is None:
                return
            assert not isinstance(due, Suspect)
            self.time.elapsed += max(0.0, (due - self.clock.now()).total_seconds())
        raise AssertionError(f"{lane.name} {key} does not end")

    # --- following ---------------------------------------------------------------------------

    async def follow(self, *people: str, groups: bool = False) -> Job:
        """Let memory follow, to the end."""
        await self.captured()
        job = await self.rehoming.start(OPERATOR, people or None, groups=groups)
        return await self.finished(job.id)

    async def purge(self) -> Job:
        """Take away what memory has followed from."""
        return await self.finished((await self.rehoming.purge(OPERATOR)).id)

    async def finished(self, job: int) -> Job:
        """Let the lane run until a job is done."""
        await self._drained(self.following.lane, REHOME)
        found = await self.rehoming.job(job)
        assert found.state == "done", found
        return found

    # --- looking -----------------------------------------------------------------------------

    async def kept(self) -> list[Kept]:
        """Return every message that the service holds, in the order in which it got them."""
        table = service_tables.message
        columns = (table.c.session, table.c.peer, table.c.metadata)
        rows = await self.memory_store.read(
            lambda conn: conn.execute(sa.select(*columns).order_by(table.c.id)).all()
        )
        return [Kept(row[0], row[1], row[2][KEY]) for row in rows]

    async def speakers(self) -> dict[str, tuple[str, Account | None, str]]:
        """Return the session, the account (None: the agent's) and the frozen peer of each key."""
        columns = (
            message_table.c.turn,
            message_table.c.id,
            sessions.name_of(ledger_table.c.session_number),
            message_table.c.role,
            ledger_table.c.peer,
            turn_table.c.platform,
            turn_table.c.scope,
            turn_table.c.user_id,
        )
        statement = (
            sa.select(*columns)
            .join(ledger_table, ledger_table.c.message_id == message_table.c.id)
            .join(turn_table, turn_table.c.id == message_table.c.turn)
        )
        rows = await self.store.read(lambda conn: conn.execute(statement).all())
        return {
            ledger.key_of(turn, number): (
                session,
                people.Account(*account) if role == "user" else None,
                peer,
            )
            for turn, number, session, role, peer, *account in rows
        }

    async def places(self) -> dict[SessionId, list[homes.Home]]:
        return await self.store.read(homes.of_all)
