"""Opening a turn: which waiting messages it answers, who speaks, in which memory session.

All of it happens in one transaction under the item's lease and is frozen on the turn: a run
after a crash finds the turn and decides nothing again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.mailbox import items
from gateway.model.events import PlaceKind
from gateway.model.ids import PeerId, ScopeId, SessionId, new_turn_id
from gateway.model.turn import TurnState
from gateway.pipeline.addresses import account_of, address_of
from gateway.pipeline.explain import describe
from gateway.pipeline.linked import rules_with_link
from gateway.policy import naming
from gateway.policy import session as session_policy
from gateway.policy.identity import resolve
from gateway.policy.overlap import Waiting, join_count, settle_delay
from gateway.policy.session import reset_due
from gateway.store import facts, inbox, messages, names, sessions, turns
from gateway.store.facts import BARE_TEAM
from gateway.text.units import measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gateway.mailbox.items import Item
    from gateway.model.capabilities import Capabilities
    from gateway.model.events import InboundEvent
    from gateway.model.ids import ConversationKey, PlatformName
    from gateway.pipeline.rules import Current, Rules
    from gateway.policy.identity import Identity, IdentityRules
    from gateway.ports import Clock
    from gateway.store.engine import Connection, Tx
    from gateway.store.inbox import InboxRow
    from gateway.store.turns import Turn

#: most waiting messages that are looked at for joining
LOOK_AHEAD = 50


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn that may run now, with the messages that it answers, oldest first."""

    turn: Turn
    rows: tuple[InboxRow, ...]
    attempt: int
    expired: bool = False

    @property
    def personal(self) -> bool:
        """True where one person has the conversation alone."""
        return _personal(self.turn.conversation, self.rows[-1].event)


@dataclass(frozen=True, slots=True)
class Settling:
    """More of the same message is expected: look again in ``delay`` seconds."""

    delay: float


@dataclass(frozen=True, slots=True)
class OrderedCommand:
    """The head is a command that waits for its place in the conversation."""

    row: InboxRow


Opened = OpenTurn | Settling | OrderedCommand


class Opening:
    """Turns the head of a conversation's lane into a turn."""

    def __init__(
        self,
        clock: Clock,
        current: Current,
        capabilities: Mapping[PlatformName, Capabilities],
    ) -> None:
        self._clock = clock
        self._current = current
        self._capabilities = capabilities

    def open(self, tx: Tx, item: Item) -> Opened:
        """Open the turn of ``item``, or take it up again. Call under the item's lease."""
        head = inbox.load(tx.conn, item.payload["inbox"])
        if head.turn is not None:
            return self._resume(tx, head)
        if head.event.command is not None:
            return OrderedCommand(head)
        behind = self._joinable(tx, item)
        platform = self._capabilities[head.event.platform]
        waiting = [_waiting(row, platform.length_unit) for row in (head, *(r for _, r in behind))]
        delay = settle_delay(waiting, self._clock.now(), paste_limit=platform.paste_limit)
        if delay > 0:
            return Settling(delay)
        joined = behind[: join_count(waiting) - 1]
        items.absorb(tx, [waiter.id for waiter, _ in joined], now=self._clock.now())
        return self._begin(tx, in_order((head, *(row for _, row in joined))))

    def reopen(self, tx: Tx, item: Item) -> OpenTurn | None:
        """Return the turn of an item that is given up; None where it never became one."""
        head = inbox.load(tx.conn, item.payload["inbox"])
        turn = None if head.turn is None else turns.load(tx.conn, head.turn)
        if turn is None:
            return None
        return OpenTurn(turn, in_order(inbox.of_turn(tx.conn, turn.id)), turn.attempt)

    def _joinable(self, tx: Tx, item: Item) -> list[tuple[Item, InboxRow]]:
        behind = items.waiting_behind(tx, item, limit=LOOK_AHEAD)
        return [(waiter, inbox.load(tx.conn, waiter.payload["inbox"])) for waiter in behind]

    def _resume(self, tx: Tx, head: InboxRow) -> OpenTurn:
        turn = turns.load(tx.conn, head.turn) if head.turn is not None else None
        if turn is None:
            raise LookupError("an inbox row names a turn that does not exist")
        rows = in_order(inbox.of_turn(tx.conn, turn.id))
        if turn.state is TurnState.EXPIRED:
            return OpenTurn(turn, rows, 0, expired=True)
        return OpenTurn(turn, rows, turns.begin_attempt(tx, turn.id, now=self._clock.now()))

    def _begin(self, tx: Tx, rows: tuple[InboxRow, ...]) -> OpenTurn:
        rules, now = self._current.rules, self._clock.now()
        key, event = rows[0].conversation, rows[-1].event
        identity = self.identify(tx, event, key)
        names.take(tx, names.PEER, identity.peer, identity.original)
        turn = turns.Turn(
            id=new_turn_id(),
            conversation=key,
            session=self._session(tx, key, event, identity, rules),
            peer=identity.peer,
            rung=identity.rung,
            identity=describe(identity),
            address=address_of(event),
            account=account_of(event),
            reply_to=event.message,
            language=rules.language_for(event.sender),
        )
        turns.create(tx, turn, now=now)
        self._checkpoints(tx, turn, rows)
        ids = [row.message_id for row in rows]
        messages.belong(tx, ids, session=turn.session, turn=turn.id)
        inbox.assign(tx, [row.id for row in rows], turn.id)
        sessions.touch(tx, key, now=event.sent_at)
        if now - event.sent_at > rules.max_age:
            turns.advance(tx, turn.id, TurnState.EXPIRED, now=now)
            return OpenTurn(turn, rows, 0, expired=True)
        turns.advance(tx, turn.id, TurnState.RUNNING, now=now)
        return OpenTurn(turn, rows, turns.begin_attempt(tx, turn.id, now=now))

    def _checkpoints(self, tx: Tx, turn: Turn, rows: Sequence[InboxRow]) -> None:
        for row in rows:
            turns.mark(tx, turn.id, TurnState.RECEIVED, "ok", now=row.received_at)
        detail = f"{len(rows)} messages joined" if len(rows) > 1 else ""
        now = self._clock.now()
        turns.mark(tx, turn.id, TurnState.ADMITTED, "ok", detail=detail, now=now)
        turns.mark(tx, turn.id, "identified", "ok", detail=f"{turn.peer} by {turn.rung}", now=now)

    # --- who -----------------------------------------------------------------------------

    def identify(self, tx: Tx, event: InboundEvent, key: ConversationKey) -> Identity:
        """Resolve the speaker of ``event`` as a turn of this moment would."""
        rules = rules_with_link(
            tx.conn, account_of(event), self.rules_of(tx.conn), event.sender.alternatives
        )
        owner = names.owner(tx.conn, names.PEER)
        return resolve(event.sender, event.platform, key, rules, owner=owner)

    def rules_of(self, conn: Connection) -> Callable[[PlatformName], IdentityRules]:
        """Return the identity rules of each platform at this moment, without links."""
        rules, stand_in = self._current.rules, self._current.stand_in
        team = facts.get(conn, BARE_TEAM)
        bare_team = None if team is None else ScopeId(team)
        return lambda platform: rules.identity_for(
            platform, bare_team=bare_team, stand_in=stand_in
        )

    def enter(
        self, tx: Tx, event: InboundEvent, key: ConversationKey
    ) -> tuple[Identity, SessionId]:
        """Return who speaks and the session of their next message, opened if need be."""
        identity = self.identify(tx, event, key)
        names.take(tx, names.PEER, identity.peer, identity.original)
        return identity, self._session(tx, key, event, identity, self._current.rules)

    # --- where ---------------------------------------------------------------------------

    def _session(
        self,
        tx: Tx,
        key: ConversationKey,
        event: InboundEvent,
        identity: Identity,
        rules: Rules,
    ) -> SessionId:
        known = sessions.find(tx.conn, key)
        if known is None:
            raise LookupError("a message waits in a conversation that does not exist")
        personal = _personal(key, event)
        reason = self._closing_reason(known, event, rules, identity.peer if personal else None)
        if reason:
            sessions.close(tx, key, reason=reason, now=self._clock.now())
        elif known.session is not None:
            return known.session
        name = self._new_name(tx, known, identity.peer, rules)
        peer = identity.peer if personal else None
        sessions.open_next(tx, key, name, peer=peer, now=self._clock.now())
        return name

    def _closing_reason(
        self,
        known: sessions.Conversation,
        event: InboundEvent,
        rules: Rules,
        peer: PeerId | None,
    ) -> str:
        if known.session is None:
            return ""
        if peer is not None and known.peer is not None and known.peer != peer:
            return "identity"
        if known.last_activity is None:
            return ""
        due = reset_due(rules.reset, last_activity=known.last_activity, now=event.sent_at)
        return due or ""

    def _new_name(
        self, tx: Tx, known: sessions.Conversation, peer: PeerId, rules: Rules
    ) -> SessionId:
        ordinal = known.sessions + 1
        by_hand = rules.session_by_hand(known.key)
        if by_hand is not None:
            wanted = by_hand if ordinal == 1 else f"{by_hand}-{ordinal}"
        elif session_policy.parse_key(known.key).platform == "console":
            outside = replace(rules.outside, title=known.title, peer=peer)
            base = session_policy.console_session(outside)
            wanted = base if ordinal == 1 else f"{base}-{ordinal}"
        else:
            return session_policy.session_original(
                known.key, workspace=rules.workspace, ordinal=ordinal, title=known.title
            )
        original = f"{known.key}\n{wanted}"
        name = naming.pick(
            naming.candidates(wanted), original, names.owner(tx.conn, names.SESSION)
        )
        names.take(tx, names.SESSION, name, original)
        return SessionId(name)


def in_order(rows: Iterable[InboxRow]) -> tuple[InboxRow, ...]:
    """Return a turn's events, given in order of arrival, with each album as it was laid out.

    An album stands where its first item arrived. Its items are ordered by their ids as numbers
    are (the shorter first, then by digits), without taking them for numbers.
    """
    arrived = list(rows)
    albums: dict[str, int] = {}
    for index, row in enumerate(arrived):
        if row.event.album is not None:
            albums.setdefault(row.event.album, index)

    def position(indexed: tuple[int, InboxRow]) -> tuple[int, int, str]:
        index, row = indexed
        message = row.event.message
        if row.event.album is None:
            return index, 0, ""
        return albums[row.event.album], len(message), message

    return tuple(row for _, row in sorted(enumerate(arrived), key=position))


def _personal(key: ConversationKey, event: InboundEvent) -> bool:
    """True where one person has the conversation alone; senders that cannot be read share one."""
    if event.place.kind is PlaceKind.DIRECT:
        return True
    return bool(session_policy.parse_key(key).participant)


def _waiting(row: InboxRow, unit: str) -> Waiting:
    event, sender = row.event, row.event.sender
    return Waiting(
        sender_key=f"{sender.kind}/{sender.scope or ''}/{sender.id or ''}",
        thread=event.place.thread,
        joinable=event.joinable,
        command=event.command is not None,
        album=event.album,
        length=measure(event.text, unit),
        received_at=row.received_at,
    )
