"""Linking: a person joins two accounts of theirs, and takes them apart again.

The code that one account is shown is entered from the other, and the number that the other is then
shown is entered from the first: whoever has stolen one of the two has nothing. Neither stands in
the database, both are derived from the home's secret; nothing is joined before the second.
"""

from __future__ import annotations

import hmac
from datetime import timedelta
from typing import TYPE_CHECKING

from gateway.model.events import PlaceKind
from gateway.model.ids import sortable_id
from gateway.pipeline.addresses import account_of, address_of, written
from gateway.pipeline.linked import identity_of, root_of
from gateway.pipeline.lockout import WRONG_LIMIT, Lockout
from gateway.policy.linking import Joining, decide, side
from gateway.store import audit, inbox, links, outbox, people, turns
from gateway.text import catalog
from gateway.text.clean import one_line
from gateway.text.markup import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.model.outbound import RichText
    from gateway.pipeline.opening import Opening
    from gateway.pipeline.pairing import Codes
    from gateway.pipeline.post import Post
    from gateway.pipeline.rules import Current
    from gateway.policy.identity import Identity
    from gateway.ports import Clock
    from gateway.store.engine import Tx
    from gateway.store.inbox import InboxRow
    from gateway.store.links import Request
    from gateway.store.people import Account

VALID = timedelta(minutes=15)
#: how long an admin may take
APPROVAL_VALID = timedelta(days=3)
ASK_AGAIN = timedelta(minutes=1)
#: wrong numbers until a request is void
WRONG_NUMBERS = 3


class Linking:
    """Answers ``/link`` and ``/unlink``; every method runs in the caller's transaction."""

    def __init__(
        self,
        clock: Clock,
        codes: Codes,
        current: Current,
        *,
        post: Post,
        opening: Opening,
        warm_up: Callable[[Tx, InboxRow], None] = lambda _tx, _row: None,
        bring: Callable[[Tx, InboxRow], None] = lambda _tx, _row: None,
    ) -> None:
        """``warm_up`` opens the next session of an event's sender: it is another peer's now.

        ``bring`` lets what was said before follow in the background.
        """
        self._clock = clock
        self._codes = codes
        self._current = current
        self._post = post
        self._opening = opening
        self._warm_up = warm_up
        self._bring = bring

    # --- /link ---------------------------------------------------------------------------

    def link(self, tx: Tx, row: InboxRow, args: str, language: str) -> str:
        """Answer ``/link``, ``/link CODE``, and ``confirm NUMBER``, ``cancel`` or ``bring``."""
        if row.event.place.kind is not PlaceKind.DIRECT:
            return catalog.text("direct_only", language)
        identity = self._opening.identify(tx, row.event, row.conversation)
        if decide(side(identity), side(identity)) is Joining.NOBODY:
            return catalog.text("link.nobody", language)
        word, _, rest = args.partition(" ")
        match word.lower():
            case "":
                return self._ask(tx, row, identity, language)
            case "confirm":
                return self._confirm(tx, row, rest, language)
            case "cancel":
                return self._cancel(tx, row, language)
            case "bring":
                return self._bring_along(tx, row, language)
        return self._enter(tx, row, args, language)

    def _ask(self, tx: Tx, row: InboxRow, identity: Identity, language: str) -> str:
        if self._current.rules.identity.pin:
            return catalog.text("link.pinned", language)
        account, now = account_of(row.event), self._clock.now()
        asked = links.last_asked(tx.conn, account)
        if asked is not None and now - asked < ASK_AGAIN:
            return catalog.text("link.again", language)
        id_ = sortable_id("l")
        code_hash = self._codes.hash(self._codes.of(id_))
        links.ask(tx, links.Request(id_, account, row.id, language, code_hash, now, now + VALID))
        self._audit(tx, "link.requested", account)
        told = catalog.text("link.ask", language, peer=identity.peer)
        return self._sealed(tx, row, told, f"{id_}:code")

    def _enter(self, tx: Tx, row: InboxRow, code: str, language: str) -> str:
        other = account_of(row.event)
        lockout = self._lockout(other)
        if lockout.locked(tx):
            return catalog.text("link.locked", language, n=WRONG_LIMIT)
        request = self._by_code(tx, links.WAITING, code)
        if request is None or request.account == other:
            lockout.count(tx)
            self._audit(tx, "link.wrong_code", other)
            return catalog.text("link.wrong", language)
        verdict = self._decide(tx, request.account, other)
        if verdict in (Joining.ALREADY, Joining.OPERATOR):
            links.end(tx, [request.id], links.CANCELLED)
            return catalog.text(f"link.{verdict}", language)
        until = self._clock.now() + VALID
        links.enter(tx, request.id, other, inbox=row.id, language=language, until=until)
        self._audit(tx, "link.entered", other, other=written(request.account))
        told = self._described(tx, other)
        self._tell(tx, request.inbox, request.language, "link.entered", f"{request.id}:e", **told)
        consent = catalog.text("link.consent", language, **self._described(tx, request.account))
        return self._sealed(tx, row, consent, f"{request.id}:number")

    def _confirm(self, tx: Tx, row: InboxRow, number: str, language: str) -> str:
        account = account_of(row.event)
        mine = links.in_state(tx.conn, links.ENTERED, now=self._clock.now())
        request = next((one for one in mine if one.account == account), None)
        if request is None or request.other is None:
            return catalog.text("link.nothing", language)
        digits = "".join(number.split())
        if not hmac.compare_digest(digits.encode(), self._codes.number(request.id).encode()):
            return self._wrong_number(tx, request, language)
        if self._current.rules.access.link_approval:
            links.await_approval(tx, request.id, until=self._clock.now() + APPROVAL_VALID)
            self._audit(tx, "link.awaits_approval", account, other=written(request.other))
            told = catalog.text("link.awaits", language)
            return self._sealed(tx, row, told, f"{request.id}:approval")
        verdict = self._join(tx, request, by=written(account) or account.platform)
        if verdict not in (Joining.OTHER_COMES, Joining.ASKER_COMES):
            return catalog.text(f"link.{verdict}", language)
        return catalog.text("link.done", language, **self._described(tx, request.other))

    def _wrong_number(self, tx: Tx, request: Request, language: str) -> str:
        if links.count_wrong(tx, request.id) < WRONG_NUMBERS:
            return catalog.text("link.wrong_number", language)
        links.end(tx, [request.id], links.CANCELLED)
        self._audit(tx, "link.failed", request.account)
        return catalog.text("link.failed", language)

    def _cancel(self, tx: Tx, row: InboxRow, language: str) -> str:
        account = account_of(row.event)
        found = links.open_of(tx.conn, account)
        if not found:
            return catalog.text("link.nothing", language)
        links.end(tx, [one.id for one in found], links.CANCELLED)
        self._audit(tx, "link.cancelled", account)
        return catalog.text("link.cancelled", language)

    def _bring_along(self, tx: Tx, row: InboxRow, language: str) -> str:
        account = account_of(row.event)
        if links.of(tx.conn, account) is None and not links.on(tx.conn, account):
            return catalog.text("unlink.nothing", language)
        self._bring(tx, row)
        return catalog.text("link.bringing", language)

    # --- joining -------------------------------------------------------------------------

    def approve(self, tx: Tx, code: str, *, by: str) -> Request | None:
        """An admin's yes to a link that both sides confirmed; None: no such code waits."""
        request = self._by_code(tx, links.APPROVAL, code)
        if request is None:
            return None
        self._join(tx, request, by=by)
        told = {} if request.other is None else self._described(tx, request.other)
        self._tell(tx, request.inbox, request.language, "link.done", f"{request.id}:a", **told)
        return request

    def deny(self, tx: Tx, code: str, *, by: str) -> Request | None:
        """An admin's no; the two are not told."""
        request = self._by_code(tx, links.APPROVAL, code)
        if request is not None:
            links.end(tx, [request.id], links.CANCELLED)
            self._audit(tx, "link.denied", request.account, by=by)
        return request

    def _join(self, tx: Tx, request: Request, *, by: str) -> Joining:
        if request.other is None:
            return Joining.NOBODY
        verdict = self._decide(tx, request.account, request.other)
        if verdict not in (Joining.OTHER_COMES, Joining.ASKER_COMES):
            links.end(tx, [request.id], links.CANCELLED)
            return verdict
        comes, stays = request.account, request.other
        if verdict is Joining.OTHER_COMES:
            comes, stays = stays, comes
        now = self._clock.now()
        root, anchor = self._root(tx, comes), self._root(tx, stays)
        links.join(tx, root, anchor, request=request.id, now=now)
        links.end(tx, [request.id], links.DONE)
        self._audit(tx, "link.confirmed", comes, by=by, other=written(stays))
        if request.other_inbox is not None:
            told = self._described(tx, request.account)
            language = request.other_language
            self._tell(tx, request.other_inbox, language, "link.done", f"{request.id}:o", **told)
        for row in filter(None, (request.inbox, request.other_inbox)):
            if (event := inbox.peek(tx.conn, row)) is not None:
                self._warm_up(tx, event)
        return verdict

    def _decide(self, tx: Tx, asker: Account, other: Account) -> Joining:
        """Decide between the two persons: the accounts that name them are what counts."""
        asking, entering = self._identity(tx, asker), self._identity(tx, other)
        verdict = decide(side(asking), side(entering))
        if verdict in (Joining.NOBODY, Joining.ALREADY):
            return verdict
        roots = (root_of(tx.conn, asker, asking), root_of(tx.conn, other, entering))
        asking, entering = (self._identity(tx, each) for each in roots)
        return decide(side(asking), side(entering))

    def _root(self, tx: Tx, account: Account) -> Account:
        return root_of(tx.conn, account, self._identity(tx, account))

    def _identity(self, tx: Tx, account: Account) -> Identity:
        return identity_of(tx.conn, account, self._opening.rules_of(tx.conn))

    # --- /unlink -------------------------------------------------------------------------

    def unlink(self, tx: Tx, row: InboxRow, args: str, language: str) -> str:
        """Answer ``/unlink``, and ``/unlink confirm``."""
        if row.event.place.kind is not PlaceKind.DIRECT:
            return catalog.text("direct_only", language)
        account = account_of(row.event)
        own, others = links.of(tx.conn, account), links.on(tx.conn, account)
        if own is None and not others:
            return catalog.text("unlink.nothing", language)
        names = ", ".join(written(one.account) for one in others)
        if own is not None:
            names = written(own.anchor) or own.anchor.platform
        if args.strip().lower() != "confirm":
            key = "unlink.ask" if own is not None else "unlink.ask_all"
            return catalog.text(key, language, accounts=names)
        self.separate(tx, account, by=written(account) or account.platform)
        self._warm_up(tx, row)
        return catalog.text("unlink.done", language, accounts=names)

    def separate(self, tx: Tx, account: Account, *, by: str) -> bool:
        """Take an account's links away and tell the others; False when there are none."""
        gone = links.leave(tx, account)
        now = self._clock.now()
        for one in gone:
            subject, other = written(one.account), written(one.anchor)
            audit.record(tx, "link.removed", actor=by, subject=subject, now=now, other=other)
            for each in (one.account, one.anchor):
                if each != account:
                    self._tell_account(tx, each, account, now.isoformat())
        return bool(gone)

    def _tell_account(self, tx: Tx, who: Account, left: Account, once: str) -> None:
        found = turns.last_direct(tx.conn, who)
        if found is not None:
            address, language = found
            letter = outbox.Letter(f"unlink:{written(who)}:{once}", address, ())
            name = written(left) or left.platform
            self._post.notice(tx, letter, catalog.text("unlink.told", language, account=name))

    # --- letters -------------------------------------------------------------------------

    def letter(self, tx: Tx, key: str) -> RichText:
        """Return the letter that holds a code or a number, for the part ``key``."""
        id_, _, rest = key.partition(":")
        what = rest.partition(":")[0]
        request = links.find(tx.conn, id_)
        language = "en" if request is None else request.language
        if what == "number":
            language = language if request is None else request.other_language
            return parse(catalog.text("link.number", language, number=self._codes.number(id_)))
        code = self._codes.of(id_)
        return parse(catalog.text(f"link.{what}", language, code=code))

    def _sealed(self, tx: Tx, row: InboxRow, told: str, key: str) -> str:
        """Answer a command, and send a letter behind it whose secret is filled in only then.

        Returns the answer, which whoever runs the command posts under the same key: once.
        """
        address = address_of(row.event)
        answer = outbox.Letter(f"command:{row.id}", address, (), reply_to=row.event.message)
        self._post.notice(tx, answer, told)
        self._post.send(tx, outbox.Letter(key, address, [parse("")], purpose=outbox.LINK))
        return told

    def _tell(self, tx: Tx, to: int, language: str, text: str, once: str, **told: str) -> None:
        """Say something to whoever wrote the event ``to``."""
        row = inbox.peek(tx.conn, to)
        if row is not None:
            letter = outbox.Letter(f"link:{once}", address_of(row.event), ())
            self._post.notice(tx, letter, catalog.text(text, language, **told))

    def _described(self, tx: Tx, account: Account) -> dict[str, str]:
        name = people.name_of(tx.conn, account) or account.user_id or account.platform
        return {"account": written(account) or account.platform, "name": one_line(name, 60)}

    # --- underneath ----------------------------------------------------------------------

    def _by_code(self, tx: Tx, state: str, code: str) -> Request | None:
        wanted = self._codes.hash("".join(code.split()))
        waiting = links.in_state(tx.conn, state, now=self._clock.now())
        same = (one for one in waiting if hmac.compare_digest(one.code_hash, wanted))
        return next(same, None)

    def _lockout(self, account: Account) -> Lockout:
        return Lockout(self._clock, f"link.wrong:{written(account)}")

    def _audit(
        self, tx: Tx, action: str, account: Account, *, by: str = "", **detail: str
    ) -> None:
        subject = written(account) or account.platform
        audit.record(
            tx, action, actor=by or subject, subject=subject, now=self._clock.now(), **detail
        )
