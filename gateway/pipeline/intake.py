"""Intake: raw updates become durable rows, once, before the platform is told that they came.

Admission is decided inside the same transaction. What a refused event said, and by whom,
therefore never reaches the disk: its row holds a key, a place, a time and a reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from gateway.mailbox import items
from gateway.model.events import EventKind
from gateway.model.ids import PlaceId
from gateway.pipeline import manners, trail
from gateway.pipeline.addresses import (
    COMMAND,
    TURN,
    account_of,
    address_of,
    place_of,
    written,
)
from gateway.policy import session as session_policy
from gateway.policy.addressing import addressed
from gateway.policy.admission import Grant, Verdict, admit
from gateway.policy.commands import KNOWN
from gateway.policy.files import is_file
from gateway.store import facts, inbox, messages, outbox, people, places, sessions
from gateway.text import catalog
from gateway.text.clean import blank, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model.events import Command, InboundEvent
    from gateway.model.ids import AccountId, ConversationKey, PlatformName
    from gateway.pipeline.pairing import Pairing
    from gateway.pipeline.post import Mailbox, Post
    from gateway.pipeline.rules import Current, Rules
    from gateway.policy.admission import Admission
    from gateway.ports import Clock, Cursor, Received
    from gateway.store.engine import Store, Tx

log = structlog.get_logger(__name__)

#: most messages that one conversation may have waiting; the next is refused and its sender told
QUEUE_LIMIT = 500


@dataclass(frozen=True, slots=True)
class _Arrival:
    """One new event with all that the decision about it needs."""

    row: int
    event: InboundEvent
    raw: bytes
    account: people.Account
    admission: Admission
    rules: Rules


class StoreIntake:
    """The ``Intake`` of every adapter of this process."""

    def __init__(
        self,
        store: Store,
        mailbox: Mailbox,
        clock: Clock,
        current: Current,
        *,
        post: Post,
        pairing: Pairing,
    ) -> None:
        self._store = store
        self._mailbox = mailbox
        self._clock = clock
        self._current = current
        self._post = post
        self._pairing = pairing

    async def accept(
        self,
        account: tuple[PlatformName, AccountId],
        received: Sequence[Received],
        cursor: Cursor | None = None,
    ) -> None:
        """See ``gateway.ports.Intake``."""

        def transaction(tx: Tx) -> None:
            for update in received:
                self._store_update(tx, account, update)
            if cursor is not None:
                store = facts.keep if cursor.fixed else facts.put
                store(tx, facts.CURSOR + cursor.name, cursor.value, now=self._clock.now())

        await self._store.write(transaction, durable=True)

    async def cursor(self, name: str) -> str | None:
        """See ``gateway.ports.Intake``."""
        return await self._store.read(lambda conn: facts.get(conn, facts.CURSOR + name))

    # --- one update ----------------------------------------------------------------------

    def _store_update(
        self, tx: Tx, account: tuple[PlatformName, AccountId], update: Received
    ) -> None:
        if update.event is None:
            if inbox.put_aside(tx, account, update, now=self._clock.now()):
                log.warning(
                    "intake.set_aside", action="intake", platform=account[0], fault=update.fault
                )
            return
        row = inbox.receive(tx, update.event, now=self._clock.now())
        if row is not None:
            self._decide(tx, self._arrival(tx, row, update.event, update.raw))

    def _arrival(self, tx: Tx, row: int, event: InboundEvent, raw: bytes) -> _Arrival:
        rules = self._current.rules
        account = account_of(event)
        paired, admin = people.grant_of(tx.conn, account)
        known = places.ids(tx.conn, place_of(event))
        admission = admit(event, rules.access, Grant(paired, admin), place_ids=known)
        return _Arrival(row, event, raw, account, admission, rules)

    def _decide(self, tx: Tx, arrival: _Arrival) -> None:
        event = arrival.event
        if arrival.admission.verdict is Verdict.PAIR and not self._expired(arrival):
            return self._conclude(tx, arrival, "refused", self._pairing.invite(tx, event))
        if arrival.admission.verdict is not Verdict.ADMIT:
            reason = arrival.admission.reason
            trail.refused(tx, event.platform, reason, now=self._clock.now())
            return self._conclude(tx, arrival, "refused", reason)
        match event.kind:
            case EventKind.SERVICE:
                return self._conclude(tx, arrival, "service", event.detail)
            case EventKind.MOVED:
                return self._moved(tx, arrival)
            case EventKind.UNREACHABLE:
                places.mark_unreachable(tx, place_of(event), now=self._clock.now())
                return self._conclude(tx, arrival, "service", "unreachable")
            case EventKind.PRESS:
                return self._pressed(tx, arrival)
            case EventKind.EDIT | EventKind.MESSAGE:
                return self._spoken(tx, arrival)

    def _conclude(self, tx: Tx, arrival: _Arrival, state: str, reason: str) -> None:
        inbox.conclude(tx, arrival.row, state=state, reason=reason)
        if state == "refused":
            log.info(
                "intake.refused", action="intake", platform=arrival.event.platform, reason=reason
            )

    def _moved(self, tx: Tx, arrival: _Arrival) -> None:
        event = arrival.event
        new: PlaceId | None = event.moved_to
        if new is not None:
            places.move(tx, place_of(event), new, event.place, now=self._clock.now())
        self._conclude(tx, arrival, "service", "moved")

    def _pressed(self, tx: Tx, arrival: _Arrival) -> None:
        """A button needs no mention, and pressing it is not speaking: no rate counts it."""
        key = self._conversation(tx, arrival)
        self._keep(tx, arrival, key, role=messages.COMMAND)
        self._enqueue(tx, arrival, COMMAND, key)

    # --- somebody spoke ------------------------------------------------------------------

    def _spoken(self, tx: Tx, arrival: _Arrival) -> None:
        event, rules = arrival.event, arrival.rules
        spoken_to = addressed(
            event,
            require_mention=rules.conversations.require_mention,
            free_response=rules.conversations.free_response,
            place_ids=places.ids(tx.conn, place_of(event)),
        )
        if not spoken_to.yes:
            return self._conclude(tx, arrival, "refused", spoken_to.reason)
        if against := manners.objection(tx.conn, event, per_minute=rules.per_minute):
            return self._object(tx, arrival, against)
        self._seen(tx, arrival)
        key = self._conversation(tx, arrival)
        if event.kind is EventKind.EDIT:
            self._keep(tx, arrival, key, role=messages.EDIT)
            return self._conclude(tx, arrival, "recorded", "edited")
        if notice := _unanswerable(event):
            self._tell(tx, arrival, notice, once=event.dedupe_key, names=_file_names(event))
            return self._conclude(tx, arrival, "notice", notice)
        lane = _lane(event.command)
        if items.live_count(tx, lane, key) >= QUEUE_LIMIT:
            newest = items.newest(tx, lane, key)
            self._tell(tx, arrival, "queue_full", once=f"full:{newest}")
            return self._conclude(tx, arrival, "refused", "queue_full")
        role = messages.USER if event.command is None else messages.COMMAND
        self._keep(tx, arrival, key, role=role)
        self._enqueue(tx, arrival, lane, key)
        return None

    def _object(self, tx: Tx, arrival: _Arrival, reason: str) -> None:
        """Refuse what is too much. A person is told, once a minute; a bot would answer that."""
        event, limit = arrival.event, arrival.rules.per_minute
        if reason == manners.RATE and event.kind is EventKind.MESSAGE:
            minute = int(event.sent_at.timestamp() // 60)
            once = f"rate:{event.place.id}:{written(arrival.account)}:{minute}"
            self._tell(tx, arrival, "too_fast", once=once, n=limit)
        self._conclude(tx, arrival, "refused", reason)

    def _seen(self, tx: Tx, arrival: _Arrival) -> None:
        event, now = arrival.event, self._clock.now()
        places.seen(tx, place_of(event), event.place, message=event.message, now=now)
        if not arrival.account.user_id:
            return
        first = people.seen(
            tx,
            arrival.account,
            name=event.sender.name,
            language=event.sender.language or "",
            now=now,
            kind=event.sender.kind,
            alternatives=event.sender.alternatives,
        )
        if first:
            trail.first_admitted(tx, arrival.account, arrival.admission.reason, now=now)

    def _conversation(self, tx: Tx, arrival: _Arrival) -> ConversationKey:
        event, rules = arrival.event, arrival.rules
        origin = places.origin(tx.conn, place_of(event))
        if origin != event.place.id:
            event = replace(event, place=replace(event.place, id=PlaceId(origin)))
        key = session_policy.conversation_key(
            event,
            profile=rules.profile,
            group_sessions=rules.conversations.group_sessions,
            thread_sessions=rules.conversations.thread_sessions,
        )
        participant = session_policy.parse_key(key).participant
        sessions.note(tx, key, event, participant=participant, now=self._clock.now())
        return key

    def _keep(self, tx: Tx, arrival: _Arrival, key: ConversationKey, *, role: str) -> None:
        event = arrival.event
        said = messages.Said(0, role, event.sender.name, event.text, event.sent_at)
        message = messages.add(tx, said)
        inbox.admit(tx, arrival.row, event, key, message_id=message, raw=arrival.raw)

    def _enqueue(self, tx: Tx, arrival: _Arrival, lane: str, key: ConversationKey) -> None:
        self._mailbox.put(
            tx,
            lane,
            key,
            dedupe=arrival.event.dedupe_key,
            payload={"inbox": arrival.row, "admin": arrival.admission.admin},
        )

    def _tell(self, tx: Tx, arrival: _Arrival, text: str, *, once: str, **values: object) -> None:
        """Say something that is no answer; the same ``once`` once, and nothing of what is old."""
        if self._expired(arrival):
            return
        event = arrival.event
        language = arrival.rules.language_for(event.sender)
        letter = outbox.Letter(
            key=f"notice:{once}",
            address=address_of(event),
            contents=(),
            reply_to=event.message,
        )
        self._post.notice(tx, letter, catalog.text(text, language, **values))

    def _expired(self, arrival: _Arrival) -> bool:
        return self._clock.now() - arrival.event.sent_at > arrival.rules.max_age


def _lane(command: Command | None) -> str:
    spec = None if command is None else KNOWN.get(command.name)
    ordered = command is None or (spec is not None and spec.ordered)
    return TURN if ordered else COMMAND


def _unanswerable(event: InboundEvent) -> str:
    """Return the text for a message that holds nothing an agent could answer, or ""."""
    if not blank(event.text) or event.forward is not None or any(map(is_file, event.attachments)):
        return ""
    return "attachment_unsupported" if event.attachments else "empty_message"


def _file_names(event: InboundEvent) -> str:
    return ", ".join(one_line(each.name, 60) or each.kind.value for each in event.attachments)
