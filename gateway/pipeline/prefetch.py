"""Prefetch: what memory knows is fetched after each turn, for the same person's next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.mailbox import items
from gateway.mailbox.lanes import Done
from gateway.memory.recall import Recalled
from gateway.model.events import PlaceKind
from gateway.model.ids import TurnId
from gateway.pipeline.addresses import PREFETCH
from gateway.policy.audience import Audience, audience
from gateway.policy.identity import Rung
from gateway.ports import Asker
from gateway.store import inbox, turns
from gateway.store.recall import RecallKey

if TYPE_CHECKING:
    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.memory.lane import Wake
    from gateway.memory.recall import Recall, Writer
    from gateway.model.ids import SessionId
    from gateway.pipeline.opening import OpenTurn
    from gateway.pipeline.post import Mailbox
    from gateway.pipeline.rules import Rules
    from gateway.policy.identity import Identity
    from gateway.store.engine import Connection, Tx
    from gateway.store.turns import Turn


def recall_key(turn: Turn, kind: PlaceKind, rules: Rules) -> RecallKey | None:
    """Return whose recall a turn gets; None where its peer stands for nobody."""
    if turn.rung == Rung.UNATTRIBUTED:
        return None
    return RecallKey(turn.session, turn.peer, _audience(kind, rules))


def _audience(kind: PlaceKind, rules: Rules) -> Audience:
    strict = rules.conversations.audience == "strict"
    return audience(personal=kind is PlaceKind.DIRECT, strict=strict)


def asker(opened: OpenTurn, rules: Rules) -> Asker | None:
    """Return for whom the agent's tools work in this turn; None: they have nobody to work for."""
    key = recall_key(opened.turn, opened.rows[-1].event.place.kind, rules)
    return None if key is None else Asker(key.peer, key.session, key.audience)


class Prefetch:
    """Handler of the ``prefetch`` lane, and what a turn asks recall for."""

    def __init__(self, mailbox: Mailbox, recall: Recall | None, wake: Wake) -> None:
        """``recall`` None: there is no memory service, and nothing is ever recalled."""
        self._mailbox = mailbox
        self._recall = recall
        self._wake = wake

    async def for_turn(self, write: Writer, opened: OpenTurn, rules: Rules) -> Recalled:
        """Return what is recalled for a turn."""
        key = recall_key(opened.turn, opened.rows[-1].event.place.kind, rules)
        if self._recall is None or key is None:
            return Recalled()
        if rules.recall.open_at_start:
            await write(lambda tx: self._wake.open(tx, opened.turn.session))
        message = "\n".join(row.event.text for row in opened.rows)
        return await self._recall.for_turn(write, opened.turn.id, key, message)

    def request(self, tx: Tx, opened: OpenTurn, rules: Rules) -> None:
        """Ask for a fetch behind the turn that is being committed."""
        key = recall_key(opened.turn, opened.rows[-1].event.place.kind, rules)
        if self._recall is None or key is None:
            return
        self._mailbox.put(
            tx,
            PREFETCH,
            "/".join(key),
            dedupe=opened.turn.id,
            payload={"turn": opened.turn.id, "audience": key.audience},
        )

    def prewarm(
        self, tx: Tx, entered: tuple[Identity, SessionId], kind: PlaceKind, rules: Rules
    ) -> None:
        """Begin to fetch for a session's first turn once the caller's transaction is committed."""
        identity, session = entered
        recall = self._recall
        if recall is None or not identity.personal:
            return
        key = RecallKey(session, identity.peer, _audience(kind, rules))
        tx.on_commit(lambda: recall.prewarm(key))

    async def handle(self, lease: Lease) -> Outcome:
        """Fetch for the newest turn of a key; a fetch that is overtaken does nothing."""
        if await lease.write(lambda tx: bool(items.waiting_behind(tx, lease.item, limit=1))):
            return Done()
        turn_id, where = lease.item.payload["turn"], Audience(lease.item.payload["audience"])
        turn, message = await lease.store.read(lambda conn: _asked(conn, turn_id))
        if self._recall is not None and turn is not None:
            await self._recall.refresh(RecallKey(turn.session, turn.peer, where), message)
        return Done()


def _asked(conn: Connection, turn_id: str) -> tuple[Turn | None, str]:
    turn = turns.load(conn, TurnId(turn_id))
    rows = inbox.of_turn(conn, TurnId(turn_id))
    return turn, "\n".join(row.event.text for row in rows)
