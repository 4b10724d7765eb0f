"""How much each account said, and where: counts for operators, without any text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.store.people import Account
from gateway.store.tables import conversation, ledger, message, session, turn

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.ids import PeerId
    from gateway.store.engine import Connection

#: states of rows that the memory service has or will have
REMEMBERED = ("held", "due", "sending", "saved")


@dataclass(frozen=True, slots=True)
class Talk:
    """The turns of one account, in sessions of one peer's own or in shared ones."""

    account: Account
    #: whose the sessions are; None: shared ones
    peer: PeerId | None
    sessions: int
    #: what was said and answered
    messages: int


def counted(conn: Connection) -> list[Talk]:
    """Return how much of what each account said went to memory, or will."""
    who = (turn.c.platform, turn.c.scope, turn.c.user_id, session.c.peer)
    rows = conn.execute(
        sa.select(
            *who, sa.func.count(ledger.c.session_number.distinct()), sa.func.count(ledger.c.id)
        )
        .select_from(ledger)
        .join(message, message.c.id == ledger.c.message_id)
        .join(turn, turn.c.id == message.c.turn)
        .join(session, session.c.number == ledger.c.session_number)
        .where(ledger.c.state.in_(REMEMBERED))
        .group_by(*who)
    )
    return [Talk(Account(*row[:3]), row[3], row[4], row[5]) for row in rows]


def last_activity(conn: Connection, platform: str) -> datetime | None:
    """Return when anybody spoke last on a platform."""
    column = conversation.c.last_activity
    newest = sa.select(column).where(conversation.c.platform == platform, column.is_not(None))
    found: datetime | None = conn.execute(newest.order_by(column.desc()).limit(1)).scalar()
    return found
