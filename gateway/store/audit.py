"""Who decided what, when: rows in a chain of hashes, added and never changed.

Persons stand in it as keyed hashes. Whoever destroys a person's key (``forget_person``) makes
their rows nobody's, and the chain stays valid. A row is written in the transaction of what it
tells of: where it cannot be written, that does not happen either.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
import structlog

from gateway.policy.chain import GENESIS, Point, Row, Verdict, link, verify
from gateway.store import statements
from gateway.store.audit_tables import audit, audit_head, audit_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from gateway.store.engine import Tx

log = structlog.get_logger(__name__)

#: what a person's hash begins with
PERSON = "person:"
#: beginnings of subjects and actors that are no persons; whatever else has a colon, or is a
#: subject, is taken for one: rather one hash too many
_THINGS = ("part", "turn", "item", "place", "session", "settings", "file", "audit", "web", "job")
#: names in a row's detail whose texts are persons
_PERSONAL = frozenset(
    {
        *("account", "accounts", "person", "people", "peer", "peers", "old_peer", "new_peer"),
        *("before", "after", "old", "new", "target", "source", "into", "other", "who"),
    }
)
_ACCOUNT = re.compile(r"(telegram|discord|slack|console):\S+")


class _Failures:
    """Whether writing failed in this process, for those who watch the audit."""

    last = ""


failures = _Failures()


def record(
    tx: Tx, action: str, *, actor: str, subject: str = "", now: datetime, **detail: Any
) -> None:
    """Add a row, e.g. ``record(tx, "pairing.approved", actor="cli", subject="telegram:42")``.

    ``subject``: a person (account or peer), or a thing such as ``part:7``. ``detail`` holds no
    text of anybody's; persons in it belong under a name such as ``account`` or ``peer``.
    """
    try:
        head = _take(tx)
        row = Row(
            seq=head.seq + 1,
            at=now,
            actor=_masked(tx, actor) if ":" in actor else actor,
            action=action,
            subject=_masked(tx, subject),
            detail=json.loads(json.dumps(_mask_all(tx, "", detail), default=str)),
            hash="",
        )
        made = link(head.hash, row)
        values = {name: getattr(row, name) for name in Row.__slots__ if name != "hash"}
        tx.conn.execute(sa.insert(audit).values(**values, hash=made))
        tx.conn.execute(sa.update(audit_head).values(hash=made))
    except (sa.exc.SQLAlchemyError, TypeError, ValueError) as error:
        failures.last = type(error).__name__
        log.error("audit.unwritten", action="audit", what=action, error=failures.last)
        raise


def _take(tx: Tx) -> Point:
    """Take the next number, keeping all other writers out; return the chain's end before it."""
    taken = sa.update(audit_head).values(seq=audit_head.c.seq + 1)
    taken = taken.returning(audit_head.c.seq, audit_head.c.hash)
    row = tx.conn.execute(taken).first()
    if row is None:
        _begin(tx)
        row = tx.conn.execute(taken).one()
    return Point(row.seq - 1, row.hash)


def _begin(tx: Tx) -> None:
    """Make the end known where it is not, behind whatever rows there are."""
    newest = sa.select(audit.c.seq, audit.c.hash).order_by(audit.c.seq.desc()).limit(1)
    row = tx.conn.execute(newest).first()
    seq, made = (0, GENESIS) if row is None else (row.seq, row.hash)
    fresh = {"seq": seq, "hash": made, "anchor_seq": 0, "anchor_hash": GENESIS}
    statement = statements.insert(tx.conn, audit_head).values(id=1, **fresh)
    tx.conn.execute(statement.on_conflict_do_nothing(index_elements=["id"]))


# --- persons -------------------------------------------------------------------------------------


def _masked(tx: Tx, who: str) -> str:
    if not who or who.startswith(PERSON) or who.partition(":")[0] in _THINGS:
        return who
    return _hash(_key_of(tx, who), who)


def _mask_all(tx: Tx, name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _mask_all(tx, key, each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_mask_all(tx, name, each) for each in value]
    if isinstance(value, str) and (name in _PERSONAL or _ACCOUNT.fullmatch(value)):
        return _masked(tx, value)
    return value


def _key_of(tx: Tx, who: str) -> bytes:
    known = sa.select(audit_key.c.key).where(audit_key.c.person == who)
    key = tx.conn.execute(known).scalar()
    if key is None:
        fresh = statements.insert(tx.conn, audit_key).values(
            person=who, key=secrets.token_bytes(32)
        )
        tx.conn.execute(fresh.on_conflict_do_nothing(index_elements=["person"]))
        key = tx.conn.execute(known).scalar_one()
    return bytes(key)


def _hash(key: bytes, who: str) -> str:
    return PERSON + hmac.digest(key, who.encode(), hashlib.sha256).hex()[:32]


def people(conn: sa.Connection) -> dict[str, str]:
    """Return whose hash is whose: hash → account or peer, for all who are not erased."""
    rows = conn.execute(sa.select(audit_key.c.person, audit_key.c.key))
    return {_hash(bytes(row.key), row.person): row.person for row in rows}


def named(value: Any, names: dict[str, str]) -> Any:
    """Put people's names back in place of their hashes, where they are still known."""
    if isinstance(value, dict):
        return {key: named(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [named(each, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else value


def hashes(conn: sa.Connection, who: Iterable[str]) -> list[str]:
    """Return the hashes under which accounts or peers stand in the audit."""
    wanted = set(who)
    return [made for made, person in people(conn).items() if person in wanted]


def forget_person(tx: Tx, who: Iterable[str]) -> int:
    """Destroy the keys of accounts or peers; returns how many there were."""
    gone = sa.delete(audit_key).where(audit_key.c.person.in_(list(who)))
    return tx.conn.execute(gone).rowcount


# --- reading -------------------------------------------------------------------------------------


def listed(conn: sa.Connection, *where: sa.ColumnElement[bool], limit: int) -> list[Row]:
    """Return the newest rows that meet all conditions, the newest first."""
    statement = sa.select(audit).where(*where).order_by(audit.c.seq.desc()).limit(limit)
    return [_row(row) for row in conn.execute(statement)]


def matching(
    conn: sa.Connection,
    *,
    who: Iterable[str] | None = None,
    action: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[sa.ColumnElement[bool]]:
    """Return the conditions for ``listed``; ``action`` may be a beginning such as ``pairing``."""
    found: list[sa.ColumnElement[bool]] = []
    if who is not None:
        known = hashes(conn, who)
        told = sa.cast(audit.c.detail, sa.Text)
        named = (told.contains(each) for each in known)
        found.append(sa.or_(audit.c.subject.in_(known), audit.c.actor.in_(known), *named))
    if action:
        begins = audit.c.action.startswith(f"{action}.", autoescape=True)
        found.append(sa.or_(audit.c.action == action, begins))
    if since is not None:
        found.append(audit.c.at >= since)
    if until is not None:
        found.append(audit.c.at < until)
    return found


def ends(conn: sa.Connection) -> tuple[Point, Point]:
    """Return the anchor and the end of the chain."""
    row = conn.execute(sa.select(audit_head)).first()
    if row is None:
        return Point(), Point()
    return Point(row.anchor_seq, row.anchor_hash), Point(row.seq, row.hash)


def check(conn: sa.Connection, since: Point | None = None) -> Verdict:
    """Follow the chain to its end, from ``since`` where it was checked before that row."""
    anchor, head = ends(conn)
    start = since if since is not None and since.seq >= anchor.seq else anchor
    return verify(_rows(conn, start.seq), anchor=start, head=head)


def holds(conn: sa.Connection, made: str) -> bool:
    """Tell whether a hash that was noted down elsewhere is still part of the chain."""
    anchor, _ = ends(conn)
    there = sa.select(audit.c.seq).where(audit.c.hash == made)
    return made == anchor.hash or conn.execute(there).first() is not None


def _rows(conn: sa.Connection, after: int) -> Iterator[Row]:
    statement = sa.select(audit).where(audit.c.seq > after).order_by(audit.c.seq)
    with conn.execute(statement.execution_options(yield_per=500)) as rows:
        for row in rows:
            yield _row(row)


def _row(row: sa.Row[Any]) -> Row:
    return Row(row.seq, row.at, row.actor, row.action, row.subject, row.detail, row.hash)


# --- retention -----------------------------------------------------------------------------------


def forget(tx: Tx, *, before: datetime, limit: int = 1000) -> int:
    """Delete up to ``limit`` rows older than ``before``; returns how many.

    Only from the old end: the last of them becomes the anchor that the chain hangs on.
    """
    anchor, _ = ends(tx.conn)
    young = sa.select(sa.func.min(audit.c.seq)).where(audit.c.at >= before)
    first = tx.conn.execute(young).scalar()
    old = sa.select(audit.c.seq, audit.c.hash).where(audit.c.seq <= anchor.seq + limit)
    if first is not None:
        old = old.where(audit.c.seq < first)
    row = tx.conn.execute(old.order_by(audit.c.seq.desc()).limit(1)).first()
    if row is None:
        return 0
    tx.conn.execute(sa.update(audit_head).values(anchor_seq=row.seq, anchor_hash=row.hash))
    return tx.conn.execute(sa.delete(audit).where(audit.c.seq <= row.seq)).rowcount
