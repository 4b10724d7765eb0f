"""Who comes in: one-time links, sessions, tokens for programs.

A link opens once and for ten minutes; it becomes a session, whose cookie is signed. The database
holds hashes, so that whoever reads it cannot come in. Nothing here knows HTTP.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from itsdangerous import BadSignature, URLSafeSerializer

from gateway.store import audit, web_keys

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.ports import Clock
    from gateway.store.engine import Connection, Store, Tx

LINK_HOLDS = timedelta(minutes=10)
#: a session ends when it was not used for so long, or is so old
SESSION_IDLES = timedelta(hours=12)
SESSION_HOLDS = timedelta(days=7)
#: how exactly the last use of a key is remembered
_GRAIN = timedelta(minutes=5)


class Role(StrEnum):
    """What a visitor may do: a viewer looks, an operator acts."""

    VIEWER = "viewer"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who was let in."""

    role: Role
    #: names the key in the audit, without opening anything
    name: str
    #: what a form must bring back; "" for a token, which no browser sends by itself
    proof: str = ""

    @property
    def acts(self) -> bool:
        """Whether this one may change anything."""
        return self.role is Role.OPERATOR


class Doors:
    """Issues keys and knows them again. ``secret`` is the home's."""

    def __init__(self, store: Store, clock: Clock, secret: bytes) -> None:
        self._store = store
        self._clock = clock
        self._secret = secret
        self._signer = URLSafeSerializer(self._key("cookie"), salt="session")
        #: signs what a page says once, after an act
        self.word_key = self._key("word")
        #: homes on one machine share the browser's cookies, ports or not
        self.cookie = f"hermes_gateway_{self._key('name').hex()[:8]}"

    def _key(self, purpose: str) -> bytes:
        return hmac.digest(self._secret, f"web:{purpose}".encode(), hashlib.sha256)

    # --- making keys ---------------------------------------------------------------------

    async def link(self, role: Role, *, by: str) -> str:
        """Return the secret of a new one-time link."""
        return await self._issue(web_keys.LINK, role, holds=LINK_HOLDS, by=by)

    async def token(self, role: Role, *, holds: timedelta, by: str) -> str:
        """Return a new token for a program."""
        return await self._issue(web_keys.TOKEN, role, holds=holds, by=by)

    async def _issue(self, kind: str, role: Role, *, holds: timedelta, by: str) -> str:
        shown = secrets.token_urlsafe(32)
        now = self._clock.now()
        key = web_keys.Key(_hash(shown), kind, role.value, now, now, now + holds)

        def add(tx: Tx) -> None:
            web_keys.add(tx, key)
            told = {"role": role.value, "key": _name(key.hash)}
            audit.record(tx, f"web.{kind}_made", actor=by, now=now, **told)

        await self._store.write(add)
        return shown

    # --- coming in and going -------------------------------------------------------------

    async def peek(self, link: str) -> Role | None:
        """Return what a link would open, without using it up."""
        key = await self._find(link, web_keys.LINK)
        return None if key is None else Role(key.role)

    async def enter(self, link: str) -> str | None:
        """Use a link up; return the cookie of a new session, None where the link holds no more."""
        shown, now = secrets.token_urlsafe(32), self._clock.now()

        def exchange(tx: Tx) -> bool:
            used = web_keys.take(tx, _hash(link), web_keys.LINK, now=now)
            if used is None:
                return False
            session = web_keys.Key(
                _hash(shown), web_keys.SESSION, used.role, now, now, now + SESSION_IDLES
            )
            web_keys.add(tx, session)
            told = {"role": used.role, "link": _name(used.hash)}
            actor = f"page {_name(session.hash)}"
            audit.record(tx, "web.signed_in", actor=actor, now=now, **told)
            return True

        entered = await self._store.write(exchange)
        return self._signed(shown) if entered else None

    async def leave(self, cookie: str, visitor: Visitor) -> None:
        """End a session."""
        now, shown = self._clock.now(), self._shown(cookie)

        def end(tx: Tx) -> None:
            if web_keys.take(tx, _hash(shown), web_keys.SESSION, now=now) is not None:
                audit.record(tx, "web.signed_out", actor=visitor.name, now=now)

        await self._store.write(end)

    async def close_all(self, *, by: str) -> int:
        """End every session and void every link and token; return how many keys that were."""
        now = self._clock.now()

        def close(tx: Tx) -> int:
            gone = web_keys.drop_all(tx)
            audit.record(tx, "web.all_signed_out", actor=by, now=now, keys=gone)
            return gone

        return await self._store.write(close)

    # --- knowing again -------------------------------------------------------------------

    async def by_cookie(self, cookie: str) -> Visitor | None:
        """Return whose session a cookie is."""
        shown = self._shown(cookie)
        key = await self._find(shown, web_keys.SESSION) if shown else None
        if key is None:
            return None
        await self._note_use(key)
        return Visitor(Role(key.role), f"page {_name(key.hash)}", self._proof(key.hash))

    async def by_token(self, token: str) -> Visitor | None:
        """Return which program brings a token."""
        key = await self._find(token, web_keys.TOKEN)
        return None if key is None else Visitor(Role(key.role), f"token {_name(key.hash)}")

    async def _find(self, shown: str, kind: str) -> web_keys.Key | None:
        now, hash_ = self._clock.now(), _hash(shown)

        def find(conn: Connection) -> web_keys.Key | None:
            return web_keys.find(conn, hash_, kind, now=now)

        return await self._store.read(find)

    async def _note_use(self, key: web_keys.Key) -> None:
        now = self._clock.now()
        if now - key.used_at >= _GRAIN:
            until = _until(key, now)
            await self._store.write(lambda tx: web_keys.extend(tx, key.hash, until=until, now=now))

    def _signed(self, shown: str) -> str:
        return str(self._signer.dumps(shown))

    def _shown(self, cookie: str) -> str:
        try:
            return str(self._signer.loads(cookie))
        except BadSignature:
            return ""

    def _proof(self, hash_: str) -> str:
        return hmac.digest(self._key("proof"), hash_.encode(), hashlib.sha256).hex()


def _until(key: web_keys.Key, now: datetime) -> datetime:
    return min(now + SESSION_IDLES, key.created_at + SESSION_HOLDS)


def _hash(shown: str) -> str:
    return hashlib.sha256(shown.encode(errors="surrogatepass")).hexdigest()


def _name(hash_: str) -> str:
    return hash_[:8]
