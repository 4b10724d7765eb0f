"""What a client is told about a peer: representation, context and answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.memory.embedded import messages, pairs, sessions, spaces, summaries
from gateway.memory.embedded.deriver import Wish
from gateway.memory.embedded.values import Json, PairRef, SessionRef, token_count

if TYPE_CHECKING:
    from collections.abc import Collection

    import sqlalchemy as sa

    from gateway.memory.embedded.memory import Memory


@dataclass(frozen=True, slots=True)
class ContextWish:
    """Which context of a session is wanted."""

    tokens: int
    summary: bool = True
    target: str | None = None
    perspective: str | None = None
    #: confines what is told about ``target`` to these sessions
    sessions: Collection[str] | None = None
    wish: Wish = field(default_factory=Wish)


async def representation(
    memory: Memory, ref: PairRef, wish: Wish, sessions: Collection[str] | None = None
) -> str:
    """Return what the observer knows of the observed, "" when that is nothing."""
    known = await memory.store.read(lambda conn: pairs.known(conn, ref, sessions))
    return await memory.deriver.representation(known, wish)


async def peer_context(memory: Memory, ref: PairRef, wish: Wish) -> Json:
    """Return representation and card of a pair. Raises ``NotFoundError`` (observer)."""
    card = await memory.store.read(lambda conn: pairs.card(conn, ref))
    return {
        "peer_id": ref.observer,
        "target_id": ref.observed,
        "representation": await representation(memory, ref, wish),
        "peer_card": card,
    }


async def session_context(memory: Memory, ref: SessionRef, wish: ContextWish) -> Json:
    """Return a session's summary and newest messages, and what is known of the target.

    Representation and card count against ``tokens`` and are not cut to it.
    """
    about, card = await _about(memory, ref, wish)
    tokens = wish.tokens - token_count(about or "") - token_count("\n".join(card or ()))
    told = await memory.store.read(lambda conn: _told(conn, ref, tokens, summary=wish.summary))
    return {"id": ref.session, **told, "peer_representation": about, "peer_card": card}


async def _about(
    memory: Memory, ref: SessionRef, wish: ContextWish
) -> tuple[str | None, list[str] | None]:
    if wish.target is None:
        return None, None
    pair = PairRef(ref.workspace, wish.perspective or wish.target, wish.target)
    card = None
    if wish.sessions is None:
        card = await memory.store.read(lambda conn: pairs.card(conn, pair))
    return await representation(memory, pair, wish.wish, wish.sessions), card


def _told(conn: sa.Connection, ref: SessionRef, tokens: int, *, summary: bool) -> Json:
    sessions.refuse_deleted(conn, ref)
    row = summaries.fitting(conn, ref, tokens) if summary else None
    after, left = (row["seq"], tokens - row["token_count"]) if row else (0, tokens)
    return {
        "messages": messages.newest(conn, ref, tokens=left, after=after),
        "summary": summaries.view(row),
    }


def check_question(conn: sa.Connection, ref: PairRef, session: str | None) -> None:
    """Raise ``NotFoundError`` when the one asked about, or the session, does not exist."""
    if ref.observed != ref.observer:
        spaces.require_peers(conn, ref.workspace, ref.observed)
    if session is not None:
        sessions.require(conn, SessionRef(ref.workspace, session))
