"""From one raw update to what the intake takes: parsed, or set aside with the reason."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import structlog

from adapters.telegram.manifest import TELEGRAM
from adapters.telegram.parse import parse
from gateway.ports import Received
from gateway.text.fields import ParseError

if TYPE_CHECKING:
    from adapters.telegram.words import Me
    from gateway.model.ids import AccountId

log: structlog.stdlib.BoundLogger = structlog.get_logger()


def read(update: object, me: Me) -> Received:
    """Return an update as the intake takes it; never raises for its contents."""
    raw = json.dumps(update, separators=(",", ":")).encode("ascii")
    number = update_number(update)
    name = f"sha256:{hashlib.sha256(raw).hexdigest()}" if number is None else str(number)
    try:
        return Received(raw, name, parse(update, me=me))
    except ParseError as fault:
        log.warning(
            "telegram.set_aside",
            action="receive",
            account=me.account,
            update=name,
            fault=str(fault),
        )
        return Received(raw, name, fault=str(fault))


def cursor_name(account: AccountId) -> str:
    """Return the name of the cursor that holds the first update which was not stored yet."""
    return f"{TELEGRAM}:{account}"


def update_number(update: object) -> int | None:
    """Return the update's own number, None when it has none that is usable."""
    number = update.get("update_id") if isinstance(update, dict) else None
    return number if type(number) is int else None
