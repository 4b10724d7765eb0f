"""Slash commands in chats. A command runs in one transaction and answers with one text.

``/new`` and ``/title`` wait for their place in the conversation; the others run at once, beside
a running turn. Nothing of a command ever reaches the agent or memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import structlog

from gateway.mailbox import items
from gateway.mailbox.lanes import Done
from gateway.model.events import PlaceKind
from gateway.model.ids import TurnId
from gateway.pipeline import explain
from gateway.pipeline.addresses import TURN, account_of, address_of, written
from gateway.pipeline.roster import who
from gateway.policy.commands import KNOWN
from gateway.store import inbox, outbox, sessions, turns
from gateway.text import catalog
from gateway.text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gateway.mailbox.items import Item
    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.pipeline.choices import Choices
    from gateway.pipeline.linking import Linking
    from gateway.pipeline.notebook import Notebook
    from gateway.pipeline.opening import Opening
    from gateway.pipeline.pairing import Pairing
    from gateway.pipeline.post import Post
    from gateway.pipeline.prefetch import Prefetch
    from gateway.pipeline.rules import Current
    from gateway.pipeline.running import Running
    from gateway.ports import Clock
    from gateway.store.engine import Tx
    from gateway.store.inbox import InboxRow
    from gateway.store.links import Request

log = structlog.get_logger(__name__)

TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Call:
    """One command as it was given."""

    tx: Tx
    row: InboxRow
    args: str
    admin: bool
    language: str

    @property
    def by(self) -> str:
        """The caller's account, as the audit names it."""
        return written(account_of(self.row.event))

    @property
    def direct(self) -> bool:
        """True where nobody but the caller reads the answer."""
        return self.row.event.place.kind is PlaceKind.DIRECT

    def text(self, key: str, **values: object) -> str:
        """Return a text of the catalogue in the caller's language."""
        return catalog.text(key, self.language, **values)


class Commands:
    """Handler of the ``command`` lane, and of ordered commands in the ``turn`` lane."""

    def __init__(
        self,
        clock: Clock,
        current: Current,
        *,
        post: Post,
        opening: Opening,
        running: Running,
        pairing: Pairing,
        linking: Linking,
        prefetch: Prefetch,
        notebook: Notebook,
        choices: Choices,
        describe_model: Callable[[], str],
        further: Mapping[str, Callable[[Tx, InboxRow, str, bool], str]] = MappingProxyType({}),
    ) -> None:
        """``further``: commands of layers above, given their arguments and whether an admin asks.

        What they answer is said, "" is not.
        """
        self._clock = clock
        self._current = current
        self._post = post
        self._opening = opening
        self._running = running
        self._pairing = pairing
        self._linking = linking
        self._warm = warming(current, opening, prefetch)
        self._notebook = notebook
        self._choices = choices
        self._describe_model = describe_model
        self._handlers: Mapping[str, Callable[[Call], str]] = {
            "start": self._start,
            "help": self._help,
            "new": self._new,
            "stop": self._stop,
            "status": self._status,
            "whoami": self._whoami,
            "trace": self._trace,
            "title": self._title,
            "link": self._link,
            "unlink": self._unlink,
            "approve": self._approve,
            "deny": self._deny,
            "who": self._who,
            **{name: partial(_further, handler) for name, handler in further.items()},
        }

    @property
    def menu(self) -> Sequence[str]:
        """Names of the commands that everybody may use, for a platform's command menu."""
        return [name for name in self._names if not KNOWN[name].admin]

    @property
    def _names(self) -> list[str]:
        every = (*self._handlers, *self._notebook.names)
        return sorted(every, key=lambda name: KNOWN[name].admin)

    async def handle(self, lease: Lease) -> Outcome:
        """Run a command that needs no order."""
        row_id, admin = lease.item.payload["inbox"], bool(lease.item.payload.get("admin"))
        row = await lease.store.read(lambda conn: inbox.load(conn, row_id))
        if row.event.pressed is not None:
            return await self._choices.handle(lease, row, row.event.pressed)
        if self._expired(row):
            return Done()
        told = await self._notebook.answer(row)
        if told is not None:
            return Done(lambda tx: self._reply(tx, row, told))
        return Done(lambda tx: self.run(tx, row, admin=admin))

    def run(self, tx: Tx, row: InboxRow, *, admin: bool) -> None:
        """Run a command and post its answer; the same command twice answers once."""
        command = row.event.command
        if command is None or self._expired(row):
            return
        language = self._current.rules.language_for(row.event.sender)
        call = Call(tx, row, command.args.strip(), admin, language)
        handler = self._handlers.get(command.name)
        if handler is None:
            answer = call.text("unknown_command", name=one_line(command.name, 40))
        elif KNOWN[command.name].admin and not admin:
            answer = call.text("admin_only")
        elif KNOWN[command.name].admin and not call.direct:
            answer = call.text("direct_only")
        else:
            answer = handler(call)
        if answer:
            self._reply(tx, row, answer)

    def _expired(self, row: InboxRow) -> bool:
        """Tell whether a command is too old to be obeyed: yesterday's ``/stop`` stops nothing."""
        return self._clock.now() - row.event.sent_at > self._current.rules.max_age

    def bury(self, tx: Tx, item: Item, error: str) -> None:
        """``on_dead`` of the lane: tell the person; for messages that never became a turn too."""
        row = inbox.load(tx.conn, item.payload["inbox"])
        log.error("command.dead", action="command", item=item.id, code=error)
        language = self._current.rules.language_for(row.event.sender)
        self._reply(tx, row, catalog.text("failed.internal", language))

    def _reply(self, tx: Tx, row: InboxRow, text: str) -> None:
        letter = outbox.Letter(
            key=f"command:{row.id}",
            address=address_of(row.event),
            contents=(),
            reply_to=row.event.message,
        )
        self._post.notice(tx, letter, text)

    # --- one method each -----------------------------------------------------------------

    def _help(self, call: Call) -> str:
        admin = call.admin and call.direct
        names = [name for name in self._names if admin or not KNOWN[name].admin]
        return catalog.help_text(call.language, names)

    def _start(self, call: Call) -> str:
        self._warm(call.tx, call.row)
        return call.text("start")

    def _new(self, call: Call) -> str:
        key = call.row.conversation
        if sessions.unused(call.tx.conn, key):
            return call.text("new.nothing")
        sessions.close(call.tx, key, reason="new", now=self._clock.now())
        self._warm(call.tx, call.row)
        return call.text("new.done")

    def _stop(self, call: Call) -> str:
        conversation = call.row.conversation
        if turns.request_stop(call.tx, conversation) is None:
            return call.text("stop.nothing")
        call.tx.on_commit(lambda: self._running.stop(conversation))
        # the stopped answer says so itself; who sits at a console waits for one to each line
        silent = self._post.has_users(call.row.event.platform)
        return "" if silent else call.text("stop.done")

    def _status(self, call: Call) -> str:
        known = sessions.find(call.tx.conn, call.row.conversation)
        waiting = items.live_count(call.tx, TURN, call.row.conversation)
        model = self._describe_model()
        lines = [
            call.text("status.model", model=model) if model else call.text("status.no_model"),
            call.text("status.queue", n=waiting) if waiting else call.text("status.idle"),
        ]
        if known is not None and known.session is not None:
            lines.append(call.text("status.memory", session=known.session))
        if known is not None and known.title:
            lines.append(call.text("status.title", title=known.title))
        return "\n".join(f"- {line}" for line in lines)

    def _whoami(self, call: Call) -> str:
        identity = self._opening.identify(call.tx, call.row.event, call.row.conversation)
        account, found = account_of(call.row.event), explain.Background()
        if call.direct:  # what somebody linked is nobody else's business
            found = explain.background(call.tx.conn, account, identity)
        return explain.whoami(
            identity,
            account,
            call.language,
            admin=call.admin,
            found=found,
            zone=self._current.rules.reset.zone,
        )

    def _trace(self, call: Call) -> str:
        account, conn = account_of(call.row.event), call.tx.conn
        turn = turns.latest(conn, call.row.conversation, account=account)
        if call.args:
            turn = TurnId(call.args)
            if not turns.is_from(conn, turn, account):
                return call.text("trace.unknown", turn=one_line(call.args, 40))
        if turn is None:
            return call.text("trace.none")
        found = explain.trace(conn, turn)
        return explain.trace_text(found, call.language, self._current.rules.reset.zone)

    def _title(self, call: Call) -> str:
        title = one_line(call.args, TITLE_LENGTH)
        if not title:
            known = sessions.find(call.tx.conn, call.row.conversation)
            if known is None or not known.title:
                return call.text("title.none")
            return call.text("title.show", title=known.title)
        sessions.set_title(call.tx, call.row.conversation, title)
        return call.text("title.done", title=title)

    def _link(self, call: Call) -> str:
        return self._linking.link(call.tx, call.row, call.args, call.language)

    def _unlink(self, call: Call) -> str:
        return self._linking.unlink(call.tx, call.row, call.args, call.language)

    def _approve(self, call: Call) -> str:
        linked = self._linking.approve(call.tx, call.args, by=call.by)
        if linked is not None:
            return call.text("approve.linked", **_both(linked))
        result = self._pairing.approve(call.tx, call.args, admin=False, by=call.by)
        if isinstance(result, Exception):
            return call.text("approve.wrong")
        return call.text("approve.done", name=written(result.account))

    def _deny(self, call: Call) -> str:
        linked = self._linking.deny(call.tx, call.args, by=call.by)
        if linked is not None:
            return call.text("deny.linked", **_both(linked))
        result = self._pairing.deny(call.tx, call.args, by=call.by)
        if isinstance(result, Exception):
            return call.text("approve.wrong")
        return call.text("deny.done", name=written(result.account))

    def _who(self, call: Call) -> str:
        zone = self._current.rules.reset.zone
        return who(call.tx.conn, now=self._clock.now(), language=call.language, zone=zone)


def _further(handler: Callable[[Tx, InboxRow, str, bool], str], call: Call) -> str:
    return handler(call.tx, call.row, call.args, call.admin)


def _both(request: Request) -> dict[str, str]:
    """Return the two accounts of a link."""
    ends = (request.account, request.other)
    asker, other = (written(each) or each.platform if each else "" for each in ends)
    return {"account": asker, "other": other}


def warming(
    current: Current, opening: Opening, prefetch: Prefetch
) -> Callable[[Tx, InboxRow], None]:
    """Return what opens the session of somebody's next message now, to fetch memory meanwhile."""

    def warm_up(tx: Tx, row: InboxRow) -> None:
        entered = opening.enter(tx, row.event, row.conversation)
        prefetch.prewarm(tx, entered, row.event.place.kind, current.rules)

    return warm_up
