"""What people do with their own data in a chat: ``/forget`` and ``/export``.

Both are begun by a command and done in lanes of their own: they take longer than a command may.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.mailbox.lanes import Done, Lane
from gateway.model.events import PlaceKind
from gateway.model.files import SentFile
from gateway.model.ids import TurnId, sortable_id
from gateway.people.erasure import ERASE
from gateway.people.estate import owner_of
from gateway.pipeline import cabinet
from gateway.pipeline.addresses import account_of, address_of, written
from gateway.policy.documents import stored_name
from gateway.policy.identity import Rung
from gateway.store import files, inbox, outbox, turns
from gateway.store.estate import holdings
from gateway.store.identity_changes import Author
from gateway.text import catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.model.ids import PlatformName
    from gateway.people.erasure import Erasure
    from gateway.people.export import Export
    from gateway.people.rehoming import Rehoming
    from gateway.pipeline.opening import Opening
    from gateway.pipeline.post import Mailbox, Post
    from gateway.pipeline.rules import Current
    from gateway.policy.retry import Backoff
    from gateway.ports import Clock, Memory
    from gateway.store.engine import Tx
    from gateway.store.inbox import InboxRow

FORGET, EXPORT, BRING = "forget", "export", "bring"
LABEL = "export.zip"


@dataclass(frozen=True, slots=True)
class OwnData:
    """Answers the two commands, and does what they began."""

    clock: Clock
    current: Current
    opening: Opening
    post: Post
    mailbox: Mailbox
    erasure: Erasure
    export: Export
    rehoming: Rehoming
    #: where files that are sent lie, and how large one may be on a platform (0: none)
    folder: Path
    largest: Callable[[PlatformName], int]
    memory: Memory | None
    #: the memory service is the embedded one
    own_service: bool

    @property
    def commands(self) -> Mapping[str, Callable[[Tx, InboxRow, str, bool], str]]:
        """The commands by name; each gets its arguments and whether an admin speaks."""
        return {"forget": self._forget, "export": self._export}

    def lanes(self, backoff: Backoff) -> list[Lane]:
        """Return the lanes in which it is done."""
        return [
            Lane(FORGET, self._do_forget, backoff),
            Lane(EXPORT, self._do_export, backoff, concurrency=1),
            Lane(ERASE, self._do_erase, backoff, concurrency=1, patient=True),
            Lane(BRING, self._do_bring, backoff, concurrency=1),
        ]

    # --- /forget -------------------------------------------------------------------------

    def _forget(self, tx: Tx, row: InboxRow, args: str, admin: bool) -> str:
        language, refusal = self._language(row), self._refusal(tx, row, admin)
        if refusal:
            return catalog.text(refusal, language)
        if args.strip().lower() == "confirm":
            self.mailbox.put(tx, FORGET, str(row.id), dedupe=str(row.id), payload={"row": row.id})
            return ""
        found = holdings(tx.conn, owner_of(tx.conn, _who(row), self.current).estate)
        told = {
            "messages": found.messages,
            "sessions": len(found.sessions) + len(found.shared_sessions),
            "files": found.files,
            "accounts": ", ".join(found.accounts) or row.event.platform,
        }
        return catalog.text("forget.ask", language, **told)

    async def _do_forget(self, lease: Lease) -> Outcome:
        row = await self._row(lease)
        if row is None:
            return Done()
        told = catalog.text("forget.done", self._language(row))

        def forget(tx: Tx) -> None:
            owner, by = owner_of(tx.conn, _who(row), self.current), _who(row)
            self.erasure.in_transaction(tx, owner, by=by, grants=False)
            letter = outbox.Letter(sortable_id("forgotten"), address_of(row.event), ())
            self.post.notice(tx, letter, told)

        return Done(forget)

    async def _do_erase(self, lease: Lease) -> Outcome:
        return await self.erasure.handle(lease, self.memory, own_service=self.own_service)

    # --- /export -------------------------------------------------------------------------

    def _export(self, tx: Tx, row: InboxRow, _args: str, admin: bool) -> str:
        language, refusal = self._language(row), self._refusal(tx, row, admin)
        if refusal:
            return catalog.text(refusal, language)
        if self._turn(tx, row) is None:
            return catalog.text("export.nothing", language)
        if not self.largest(row.event.platform):
            return catalog.text("export.elsewhere", language, account=_who(row))
        self.mailbox.put(tx, EXPORT, str(row.id), dedupe=str(row.id), payload={"row": row.id})
        return catalog.text("export.begun", language)

    async def _do_export(self, lease: Lease) -> Outcome:
        row = await self._row(lease)
        if row is None:
            return Done()
        data, _ = await self.export.archive(_who(row), by=_who(row), memory=self.memory)
        if len(data) > self.largest(row.event.platform):
            return Done(lambda tx: self._tell(tx, row, "export.elsewhere", ()))
        name = stored_name(TurnId(f"export-{row.id}"), 0, LABEL)
        await asyncio.to_thread(cabinet.write, self.folder / name, data)

        def send(tx: Tx) -> None:
            turn = self._turn(tx, row)
            if turn is not None:
                sent = SentFile(name, LABEL, "application/zip", len(data))
                kept = files.carry(tx, turn, row.message_id, [sent], now=self.clock.now())
                self._tell(tx, row, "export.done", kept)

        return Done(send)

    def _tell(self, tx: Tx, row: InboxRow, text: str, kept: list[int] | tuple[()]) -> None:
        told = catalog.text(text, self._language(row), account=_who(row))
        contents = self.post.compose(row.event.platform, told)
        self.post.send(
            tx, outbox.Letter(f"export:{row.id}", address_of(row.event), contents, files=kept)
        )

    def _turn(self, tx: Tx, row: InboxRow) -> TurnId | None:
        account = account_of(row.event)
        return turns.latest(tx.conn, row.conversation, account=account)

    # --- /link bring ---------------------------------------------------------------------

    async def _do_bring(self, lease: Lease) -> Outcome:
        """Let what a linked person had said before follow to who they are now."""
        row = await self._row(lease)
        if row is not None:
            who = _who(row)
            peer = await lease.store.read(lambda conn: owner_of(conn, who, self.current).peer)
            await self.rehoming.start(Author(who, "link"), [peer])
        return Done()

    # --- underneath ----------------------------------------------------------------------

    def _refusal(self, tx: Tx, row: InboxRow, admin: bool) -> str:
        """Return the text that says why not, or ""."""
        if row.event.place.kind is not PlaceKind.DIRECT:
            return "direct_only"
        rung = self.opening.identify(tx, row.event, row.conversation).rung
        if rung in (Rung.UNATTRIBUTED, Rung.SESSION):
            return "memory.nobody"
        return "forget.pinned" if rung is Rung.PIN and not admin else ""

    def _language(self, row: InboxRow) -> str:
        return self.current.rules.language_for(row.event.sender)

    async def _row(self, lease: Lease) -> InboxRow | None:
        number = lease.item.payload["row"]
        return await lease.store.read(lambda conn: inbox.peek(conn, number))


def _who(row: InboxRow) -> str:
    account = account_of(row.event)
    return written(account) if account.user_id else account.platform
