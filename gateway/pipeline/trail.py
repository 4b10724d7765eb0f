"""What the audit is told of admission: whom it let in first, and whom it turns away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.pipeline.addresses import written
from gateway.policy.admission import Reason
from gateway.store import audit, facts

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.ids import PlatformName
    from gateway.store.engine import Tx
    from gateway.store.people import Account

#: refusals that somebody may want to know of; the others are how platforms work
_TOLD = frozenset(
    (Reason.BOT, Reason.WEBHOOK, Reason.UNKNOWN_SENDER, Reason.PLACE, Reason.STRANGER)
)
_DAY = "audit.refused:"


def first_admitted(tx: Tx, account: Account, reason: Reason, *, now: datetime) -> None:
    """An account that was never seen may talk, for ``reason``."""
    subject = written(account)
    audit.record(tx, "access.admitted", actor="gateway", subject=subject, now=now, reason=reason)


def refused(tx: Tx, platform: PlatformName, reason: Reason, *, now: datetime) -> None:
    """Somebody was turned away: the first time a day on a platform for a reason, not each time.

    Nothing of whoever it was is kept.
    """
    name, day = f"{_DAY}{platform}:{reason}", f"{now:%Y-%m-%d}"
    if reason not in _TOLD or facts.get(tx.conn, name) == day:
        return
    facts.put(tx, name, day, now=now)
    audit.record(tx, "access.refused", actor="gateway", now=now, platform=platform, reason=reason)
