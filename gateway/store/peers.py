"""Whose words are in the ledger: each peer, how much of theirs is saved, by which accounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.store import messages
from gateway.store.tables import ledger, message, turn

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.ids import PeerId


@dataclass(frozen=True, slots=True)
class Known:
    """One peer as operators see it."""

    peer: PeerId
    #: its rows are answers of the agent's
    agent: bool
    messages: int
    saved: int
    last_message: datetime
    #: ``platform:id`` of whom its turns came from, ``platform`` where there are no users
    accounts: tuple[str, ...]


def known(conn: sa.Connection) -> list[Known]:
    """Return every peer that said something, who spoke last first."""
    saved = sa.func.sum(sa.case((ledger.c.state == "saved", 1), else_=0))
    last = sa.func.max(message.c.sent_at)
    rows = conn.execute(
        sa.select(
            ledger.c.peer,
            sa.func.max(sa.case((message.c.role == messages.ASSISTANT, 1), else_=0)),
            sa.func.count(),
            saved,
            last,
        )
        .join(message, message.c.id == ledger.c.message_id)
        .group_by(ledger.c.peer)
        .order_by(last.desc(), ledger.c.peer)
    )
    accounts = _accounts(conn)
    return [
        Known(peer, bool(agent), number, int(done), at, () if agent else accounts.get(peer, ()))
        for peer, agent, number, done, at in rows
    ]


def _accounts(conn: sa.Connection) -> dict[str, tuple[str, ...]]:
    columns = (turn.c.peer, turn.c.platform, turn.c.scope, turn.c.user_id)
    found: dict[str, tuple[str, ...]] = {}
    for peer, *account in conn.execute(sa.select(*columns).distinct().order_by(*columns)):
        name = ":".join(filter(None, account))
        found[peer] = (*found.get(peer, ()), name)
    return found
