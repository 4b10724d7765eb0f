"""What the agent is asked: the messages of a turn with their files, and what was said before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.ports import HistoryMessage, Spoken, TurnRequest
from gateway.store import ledger, messages, turns

if TYPE_CHECKING:
    from gateway.pipeline.attachments import Received
    from gateway.store.engine import Connection


def build(conn: Connection, received: Received) -> TurnRequest | None:
    """Return what the agent is asked, None where the person has stopped the turn."""
    opened = received.opened
    turn = turns.load(conn, opened.turn.id) or opened.turn
    if turn.stop_requested:
        return None
    said = ledger.history(conn, turn.session)
    return TurnRequest(
        turn=turn.id,
        spoken=tuple(
            Spoken(
                text=row.event.text,
                sent_at=row.event.sent_at,
                author=row.event.sender.name,
                reply=row.event.reply,
                forward=row.event.forward,
                files=received.files.get(row.message_id, ()),
            )
            for row in opened.rows
        ),
        history=tuple(
            HistoryMessage(one.role == messages.USER, one.text, one.author) for one in said
        ),
        shared=not opened.personal,
    )
