"""Links between accounts, confirmed by their people, and requests on the way there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.store import statements
from gateway.store.link_tables import link, link_request
from gateway.store.people import Account

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from gateway.store.engine import Tx

WAITING, ENTERED, APPROVAL, DONE, CANCELLED = (
    "waiting",
    "entered",
    "approval",
    "done",
    "cancelled",
)
OPEN = (WAITING, ENTERED, APPROVAL)


@dataclass(frozen=True, slots=True)
class Link:
    """``account`` is the same person as ``anchor``."""

    account: Account
    anchor: Account
    since: datetime


@dataclass(frozen=True, slots=True)
class Request:
    """A wish to join two accounts. ``other`` is known once somebody entered the code."""

    id: str
    account: Account
    inbox: int
    language: str
    code_hash: str
    created_at: datetime
    expires_at: datetime
    state: str = WAITING
    other: Account | None = None
    other_inbox: int | None = None
    other_language: str = ""
    wrong: int = 0


# --- links ---------------------------------------------------------------------------------------


def _is(account: Account) -> sa.ColumnElement[bool]:
    return sa.and_(
        link.c.platform == account.platform,
        link.c.scope == account.scope,
        link.c.user_id == account.user_id,
    )


def _hangs_on(anchor: Account) -> sa.ColumnElement[bool]:
    return sa.and_(
        link.c.anchor_platform == anchor.platform,
        link.c.anchor_scope == anchor.scope,
        link.c.anchor_user_id == anchor.user_id,
    )


def of(conn: sa.Connection, account: Account) -> Link | None:
    """Return the link by which an account hangs on another."""
    row = conn.execute(sa.select(link).where(_is(account))).first()
    return None if row is None else _link(row)


def on(conn: sa.Connection, anchor: Account) -> list[Link]:
    """Return the links that hang on an account."""
    rows = conn.execute(sa.select(link).where(_hangs_on(anchor)).order_by(link.c.since))
    return [_link(row) for row in rows]


def listed(conn: sa.Connection) -> list[Link]:
    """Return every link, the oldest first."""
    return [_link(row) for row in conn.execute(sa.select(link).order_by(link.c.since))]


def join(tx: Tx, account: Account, anchor: Account, *, request: str, now: datetime) -> None:
    """Make ``account``, and whoever hangs on it, hang on ``anchor``, which hangs on none then."""
    tx.conn.execute(sa.delete(link).where(_is(anchor)))
    onto = dict(zip(("anchor_platform", "anchor_scope", "anchor_user_id"), anchor, strict=True))
    tx.conn.execute(sa.update(link).where(_hangs_on(account)).values(**onto))
    fresh = {**onto, "request": request, "since": now}
    statement = statements.insert(tx.conn, link).values(**account._asdict(), **fresh)
    keys = ["platform", "scope", "user_id"]
    tx.conn.execute(statement.on_conflict_do_update(index_elements=keys, set_=fresh))


def leave(tx: Tx, account: Account) -> list[Link]:
    """Take an account's links away: its own, or where it is the anchor all that hang on it.

    Returns those that were.
    """
    gone = [each for each in (of(tx.conn, account),) if each] or on(tx.conn, account)
    tx.conn.execute(sa.delete(link).where(sa.or_(_is(account), _hangs_on(account))))
    return gone


def _link(row: sa.Row[Any]) -> Link:
    return Link(
        Account(row.platform, row.scope, row.user_id),
        Account(row.anchor_platform, row.anchor_scope, row.anchor_user_id),
        row.since,
    )


# --- requests ------------------------------------------------------------------------------------


def ask(tx: Tx, request: Request) -> None:
    """Store a new request; the account's earlier ones are void."""
    end(tx, [one.id for one in open_of(tx.conn, request.account)], CANCELLED)
    tx.conn.execute(
        sa.insert(link_request).values(
            id=request.id,
            **request.account._asdict(),
            inbox=request.inbox,
            language=request.language,
            code_hash=request.code_hash,
            state=WAITING,
            created_at=request.created_at,
            expires_at=request.expires_at,
        )
    )


def enter(
    tx: Tx, request_id: str, other: Account, *, inbox: int, language: str, until: datetime
) -> None:
    """Note who entered the code."""
    who = dict(zip(("other_platform", "other_scope", "other_user_id"), other, strict=True))
    values = {"state": ENTERED, "other_inbox": inbox, "other_language": language}
    tx.conn.execute(
        sa.update(link_request)
        .where(link_request.c.id == request_id)
        .values(**who, **values, expires_at=until)
    )


def count_wrong(tx: Tx, request_id: str) -> int:
    """Count a wrong number; return how many there were."""
    counted = sa.update(link_request).where(link_request.c.id == request_id)
    counted = counted.values(wrong=link_request.c.wrong + 1).returning(link_request.c.wrong)
    return int(tx.conn.execute(counted).scalar_one())


def await_approval(tx: Tx, request_id: str, *, until: datetime) -> None:
    """Both said yes: an admin decides."""
    tx.conn.execute(
        sa.update(link_request)
        .where(link_request.c.id == request_id)
        .values(state=APPROVAL, expires_at=until)
    )


def end(tx: Tx, ids: Iterable[str], state: str) -> None:
    """Close requests."""
    tx.conn.execute(
        sa.update(link_request).where(link_request.c.id.in_(list(ids))).values(state=state)
    )


def find(conn: sa.Connection, request_id: str) -> Request | None:
    """Return a request, whatever became of it."""
    row = conn.execute(sa.select(link_request).where(link_request.c.id == request_id)).first()
    return None if row is None else _request(row)


def in_state(conn: sa.Connection, state: str, *, now: datetime) -> list[Request]:
    """Return the requests that are in a state and still good, oldest first."""
    statement = sa.select(link_request).where(
        link_request.c.state == state, link_request.c.expires_at > now
    )
    return [_request(row) for row in conn.execute(statement.order_by(link_request.c.created_at))]


def open_of(conn: sa.Connection, account: Account) -> list[Request]:
    """Return the requests that an account began or answered and that are open, also late ones."""
    mine = sa.and_(*(link_request.c[name] == value for name, value in account._asdict().items()))
    theirs = sa.and_(
        *(link_request.c[f"other_{name}"] == value for name, value in account._asdict().items())
    )
    statement = sa.select(link_request).where(link_request.c.state.in_(OPEN), sa.or_(mine, theirs))
    return [_request(row) for row in conn.execute(statement.order_by(link_request.c.created_at))]


def last_asked(conn: sa.Connection, account: Account) -> datetime | None:
    """Return when an account last asked for a code."""
    mine = (link_request.c[name] == value for name, value in account._asdict().items())
    return conn.execute(sa.select(sa.func.max(link_request.c.created_at)).where(*mine)).scalar()


def _request(row: sa.Row[Any]) -> Request:
    other = Account(row.other_platform, row.other_scope, row.other_user_id)
    return Request(
        id=row.id,
        account=Account(row.platform, row.scope, row.user_id),
        inbox=row.inbox,
        language=row.language,
        code_hash=row.code_hash,
        created_at=row.created_at,
        expires_at=row.expires_at,
        state=row.state,
        other=other if row.other_platform else None,
        other_inbox=row.other_inbox,
        other_language=row.other_language,
        wrong=row.wrong,
    )
