"""Pairing: a stranger's direct message is answered with a code that an operator approves.

A code never reaches the database: it is derived from a secret file when its letter is sent, and
stored as a keyed hash.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gateway.model.errors import ConfigurationError, GatewayError
from gateway.model.ids import sortable_id
from gateway.pipeline.addresses import account_of, address_of, written
from gateway.pipeline.lockout import WRONG_LIMIT, Lockout
from gateway.store import audit, outbox, pairing, people
from gateway.text import catalog
from gateway.text.markup import parse

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from gateway.model.events import InboundEvent
    from gateway.model.outbound import RichText
    from gateway.pipeline.post import Post
    from gateway.pipeline.rules import Current
    from gateway.ports import Clock
    from gateway.store.engine import Tx
    from gateway.store.pairing import Request

#: 32 characters that cannot be mistaken for one another
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 8
VALID = timedelta(hours=1)
ASK_AGAIN = timedelta(minutes=10)
MOST_WAITING = 3

_FAILURES = "pairing.failures"


class PairingError(GatewayError):
    """The code was not approved."""

    code = "pairing"


@dataclass(frozen=True, slots=True)
class Codes:
    """Derives and checks codes with one secret of this home."""

    secret: bytes

    def of(self, request_id: str) -> str:
        """Return the code of a request."""
        digest = self._mac(f"code:{request_id}")
        return "".join(ALPHABET[byte % 32] for byte in digest[:CODE_LENGTH])

    def number(self, request_id: str) -> str:
        """Return the six digits that prove the other side of a link."""
        return f"{int.from_bytes(self._mac(f'number:{request_id}')[:8]) % 1_000_000:06}"

    def hash(self, code: str) -> str:
        """Return what is stored of a code; case and outer blanks do not matter."""
        return self._mac(f"hash:{code.strip().upper()}").hex()

    def _mac(self, text: str) -> bytes:
        return hmac.digest(self.secret, text.encode(), hashlib.sha256)


def load_secret(path: Path) -> bytes:
    """Return the home's secret, making it (0600) at the first call."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return path.read_bytes()
    with os.fdopen(fd, "wb") as file:
        secret = os.urandom(32)
        file.write(secret)
    return secret


class Pairing:
    """Requests, approvals and revocations; every method runs in the caller's transaction."""

    def __init__(self, clock: Clock, codes: Codes, current: Current, post: Post) -> None:
        self._clock = clock
        self._codes = codes
        self._current = current
        self._post = post
        self._lockout = Lockout(clock, _FAILURES)

    def invite(self, tx: Tx, event: InboundEvent) -> str:
        """Answer a stranger with a code where the limits allow it; return the reason code."""
        now = self._clock.now()
        account = account_of(event)
        asked = pairing.last_request(tx.conn, account)
        if asked is not None and now - asked < ASK_AGAIN:
            return "pairing_waiting"
        if len(pairing.waiting(tx.conn, event.platform, now=now)) >= MOST_WAITING:
            return "pairing_full"
        request = self._request(event, now)
        pairing.add(tx, request)
        self._post.send(
            tx,
            outbox.Letter(
                key=request.id,
                address=request.address,
                contents=[parse("")],
                purpose=outbox.PAIRING,
            ),
        )
        audit.record(tx, "pairing.requested", actor="stranger", subject=written(account), now=now)
        return "pairing"

    def _request(self, event: InboundEvent, now: datetime) -> Request:
        request_id = sortable_id("p")
        return pairing.Request(
            id=request_id,
            account=account_of(event),
            address=address_of(event),
            language=self._current.rules.language_for(event.sender),
            code_hash=self._codes.hash(self._codes.of(request_id)),
            created_at=now,
            expires_at=now + VALID,
        )

    def letter(self, tx: Tx, key: str) -> RichText:
        """Return the letter of a request, code included, for the part ``key``."""
        request_id = key.partition(":")[0]
        language = pairing.language_of(tx.conn, request_id)
        text = catalog.text("pairing.request", language, code=self._codes.of(request_id))
        return parse(text)

    def approve(self, tx: Tx, code: str, *, admin: bool, by: str) -> Request | PairingError:
        """Let the account behind ``code`` in and tell its person.

        A wrong or expired code is *returned* as an error: it is counted, and raising would roll
        the count back.
        """
        request = self._waiting(tx, code)
        if not isinstance(request, PairingError):
            self._let_in(tx, request, admin=admin, by=by)
        return request

    def deny(self, tx: Tx, code: str, *, by: str) -> Request | PairingError:
        """Turn the account behind ``code`` away; its person is not told. Errors as ``approve``."""
        request = self._waiting(tx, code)
        if not isinstance(request, PairingError):
            self._turn_away(tx, request, by=by)
        return request

    def turn_away(self, tx: Tx, request_id: str, *, by: str) -> Request:
        """Turn a waiting account away without its code. Raises ``PairingError``."""
        waiting = pairing.waiting(tx.conn, None, now=self._clock.now())
        request = next((one for one in waiting if one.id == request_id), None)
        if request is None:
            raise PairingError("this request does not wait any more")
        self._turn_away(tx, request, by=by)
        return request

    def _turn_away(self, tx: Tx, request: Request, *, by: str) -> None:
        pairing.conclude(tx, request.id, "denied")
        subject, now = written(request.account), self._clock.now()
        audit.record(tx, "pairing.denied", actor=by, subject=subject, now=now)

    def _waiting(self, tx: Tx, code: str) -> Request | PairingError:
        if self._lockout.locked(tx):
            return PairingError(f"locked after {WRONG_LIMIT} wrong codes; try again in an hour")
        wanted = self._codes.hash(code)
        for request in pairing.waiting(tx.conn, None, now=self._clock.now()):
            if hmac.compare_digest(request.code_hash, wanted):
                return request
        self._lockout.count(tx)
        return PairingError("no waiting request has this code; codes are valid for one hour")

    def _let_in(self, tx: Tx, request: Request, *, admin: bool, by: str) -> None:
        now = self._clock.now()
        people.grant(tx, request.account, admin=admin, by=by, now=now)
        pairing.conclude(tx, request.id, "approved")
        self._lockout.clear(tx)
        subject = written(request.account)
        audit.record(tx, "pairing.approved", actor=by, subject=subject, now=now, admin=admin)
        letter = outbox.Letter(f"approved:{request.id}", request.address, ())
        self._post.notice(tx, letter, catalog.text("pairing.approved", request.language))

    def revoke(self, tx: Tx, account: str, *, by: str) -> bool:
        """Take an account's grant away (``telegram:42``); False when it had none.

        Raises ``ConfigurationError`` for a text that names no account.
        """
        gone = people.revoke(tx, _read(account))
        if gone:
            now = self._clock.now()
            audit.record(tx, "pairing.revoked", actor=by, subject=account, now=now)
        return gone

    def set_admin(self, tx: Tx, account: str, *, admin: bool, by: str) -> bool:
        """Make an account that was let in an admin, or no longer one; False: it was not let in.

        Raises ``ConfigurationError`` like ``revoke``.
        """
        known = people.set_admin(tx, _read(account), admin=admin)
        if known:
            now = self._clock.now()
            audit.record(tx, "pairing.admin_set", actor=by, subject=account, now=now, admin=admin)
        return known


def _read(account: str) -> people.Account:
    platform, *scope, user = account.split(":") if ":" in account else ("", "")
    if not platform or not user:
        raise ConfigurationError(f"{account}: not an account; write telegram:700100200")
    return people.Account(platform, ":".join(scope), user)
