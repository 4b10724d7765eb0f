"""What has not reached its person, and what an operator does about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.store import outbox
from gateway.web.shapes import DeliveryView

if TYPE_CHECKING:
    from gateway.web.doors import Visitor
    from gateway.web.parts import Parts

#: parts that one answer holds
MOST = 200


async def view(parts: Parts, state: str = "") -> list[DeliveryView]:
    """Return the parts that wait, failed, or may have arrived, oldest first."""
    rows = await parts.store.read(outbox.undelivered)
    return [_part(row) for row in rows if state in ("", row.state)][:MOST]


def _part(row: Any) -> DeliveryView:
    return DeliveryView(
        id=row.id,
        state=row.state,
        turn=row.turn,
        part=row.ordinal + 1,
        purpose=row.purpose,
        place="/".join(filter(None, (row.platform, row.account, row.place, row.thread))),
        attempts=row.attempts,
        error=row.error,
        created_at=row.created_at,
    )


async def retry(parts: Parts, visitor: Visitor, part: int, *, twice: bool) -> None:
    """Send a part again. Raises ``DeliveryError``, ``MayArriveTwiceError``."""
    await parts.store.write(
        lambda tx: parts.deliveries.retry(tx, part, by=visitor.name, twice=twice)
    )


async def give_up(parts: Parts, visitor: Visitor, part: int) -> None:
    """Stop trying to send a part. Raises ``DeliveryError``."""
    await parts.store.write(lambda tx: parts.deliveries.give_up(tx, part, by=visitor.name))
