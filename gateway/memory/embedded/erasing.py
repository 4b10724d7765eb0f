"""Taking peers out of the embedded service for good, which the API it speaks has no way to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.memory.embedded import forgetting, tables
from gateway.memory.embedded.thinking import DERIVE, SUMMARISE
from gateway.store.tables import item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.store.engine import Tx


def forget_peers(tx: Tx, peers: Sequence[str], sessions: Sequence[str]) -> None:
    """Delete what is left of peers, and the names of deleted sessions, in every workspace.

    For peers whose sessions and conclusions were deleted before: nothing of theirs is needed.
    """
    pair, conclusion, observation = tables.pair, tables.conclusion, tables.observation
    mine = sa.or_(pair.c.observer.in_(peers), pair.c.observed.in_(peers))
    pairs = sa.select(pair.c.id).where(mine)
    drawn = sa.select(conclusion.c.id).where(conclusion.c.pair.in_(pairs))
    forgetting.conclusions(tx, tx.conn.execute(drawn).scalars().all())
    tx.conn.execute(sa.delete(observation).where(observation.c.pair.in_(pairs)))
    tx.conn.execute(sa.delete(pair).where(mine))
    for name in (*peers, *sessions):
        about = item.c.key.endswith(f"/{name}", autoescape=True)
        work = sa.delete(item).where(item.c.lane.in_((DERIVE, SUMMARISE)), about)
        tx.conn.execute(work)
    membership, peer, session = tables.membership, tables.peer, tables.session
    tx.conn.execute(sa.delete(membership).where(membership.c.peer.in_(peers)))
    tx.conn.execute(sa.delete(peer).where(peer.c.id.in_(peers)))
    gone = session.c.deleted_at.is_not(None), session.c.id.in_(sessions)
    tx.conn.execute(sa.delete(session).where(*gone))
