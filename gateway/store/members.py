"""Who was made a member of a memory session, with the flags that the service has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.model.memory import Observation
from gateway.store import statements
from gateway.store.tables import session_member

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gateway.model.ids import PeerId, SessionId
    from gateway.store.engine import Tx


def of(conn: sa.Connection, session: SessionId) -> dict[PeerId, Observation]:
    """Return the members of a session; {} before it was opened at the service."""
    rows = conn.execute(
        sa.select(
            session_member.c.peer, session_member.c.observe_me, session_member.c.observe_others
        ).where(session_member.c.session == session)
    )
    return {row.peer: Observation(row.observe_me, row.observe_others) for row in rows}


def note(
    tx: Tx, session: SessionId, members: Mapping[PeerId, Observation], *, now: datetime
) -> None:
    """Remember members as the service has them."""
    for peer, flags in members.items():
        values = {"observe_me": flags.observe_me, "observe_others": flags.observe_others}
        statement = statements.insert(tx.conn, session_member).values(
            session=session, peer=peer, opened_at=now, **values
        )
        tx.conn.execute(
            statement.on_conflict_do_update(index_elements=["session", "peer"], set_=values)
        )
