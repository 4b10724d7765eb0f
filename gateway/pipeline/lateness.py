"""An answer that a restart made late says so, in one line behind its last words."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from gateway.store import inbox, outbox, turns
from gateway.text import catalog
from gateway.text.behind import GAP, behind
from gateway.text.markup import parse
from gateway.text.units import measure

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.capabilities import Capabilities
    from gateway.model.outbound import RichText
    from gateway.store.engine import Connection
    from gateway.store.outbox import StoredPart

#: a wait that nobody needs to be told of
PATIENCE = timedelta(seconds=60)


def with_apology(
    conn: Connection,
    stored: StoredPart,
    facts: Capabilities,
    *,
    started: datetime,
    now: datetime,
) -> RichText | None:
    """Return the part's content with the line, None where it stays as it is.

    ``started``: when this process began. Only for a part that certainly was not sent before.
    """
    turn = None if stored.part.turn is None else turns.load(conn, stored.part.turn)
    if turn is None or stored.purpose != outbox.ANSWER:
        return None
    if stored.part.file is not None or not outbox.ends_words(conn, stored):
        return None
    received = inbox.newest_of_turn(conn, turn.id)
    if received is None or received >= started or now - received <= PATIENCE:
        return None
    line = parse(catalog.text("recovered", turn.language))
    if stored.part.content.text.endswith(GAP + line.text):
        return None
    longer = behind(stored.part.content, line)
    return longer if _fits(longer, facts) else None


def _fits(content: RichText, facts: Capabilities) -> bool:
    size = facts.measure or (lambda piece: measure(piece.text, facts.length_unit))
    few = not facts.max_spans or len(content.spans) <= facts.max_spans
    return few and size(content) <= facts.max_length
