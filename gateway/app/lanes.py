"""The lanes of one gateway process: which handler does which work, and how often it is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.mailbox.embedded import CONTROL
from gateway.mailbox.lanes import Done, Lane
from gateway.pipeline.addresses import COMMAND, DELIVER, PREFETCH, SETTLE, TURN
from gateway.pipeline.delivery import BACKOFF as DELIVERY_BACKOFF
from gateway.pipeline.turn import TRIES
from gateway.policy.retry import Backoff

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.pipeline.commands import Commands
    from gateway.pipeline.delivery import Delivery
    from gateway.pipeline.ending import Ending
    from gateway.pipeline.prefetch import Prefetch
    from gateway.pipeline.turn import Turns

TURN_BACKOFF = Backoff(first=2.0, factor=3.0, ceiling=30.0, jitter=0.2, attempts=TRIES)
QUICK_BACKOFF = Backoff(first=0.5, factor=2.0, ceiling=10.0, jitter=0.2, attempts=5)


def lanes(
    turns: Turns,
    commands: Commands,
    delivery: Delivery,
    *,
    prefetch: Prefetch,
    ending: Ending,
    more: Iterable[Lane],
) -> list[Lane]:
    """Return all lanes; ``more`` are those that bring their own names and backoffs."""
    quick = QUICK_BACKOFF
    return [
        Lane(TURN, turns.handle, TURN_BACKOFF, concurrency=32, on_dead=turns.bury),
        Lane(COMMAND, commands.handle, quick, finishes=True, on_dead=commands.bury),
        Lane(
            DELIVER,
            delivery.handle,
            DELIVERY_BACKOFF,
            # sends to a platform that hangs must leave room for those to the others
            concurrency=512,
            finishes=True,
            on_dead=delivery.bury,
        ),
        Lane(PREFETCH, prefetch.handle, quick, concurrency=8),
        Lane(SETTLE, ending.handle, quick),
        Lane(CONTROL, _noted, quick),
        *more,
    ]


async def _noted(_lease: Lease) -> Outcome:
    """A note of another process has done its work by waking the engine."""
    return Done()
