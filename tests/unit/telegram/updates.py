"""Raw updates for tests: the recorded ones, and small ones made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.telegram.parse import parse
from adapters.telegram.words import Me
from gateway.model.ids import AccountId

if TYPE_CHECKING:
    from gateway.model.events import InboundEvent

Json = dict[str, Any]

ME = Me(AccountId("123456"), "gate_bot")
ANN: Json = {"id": 42, "is_bot": False, "first_name": "Ann", "last_name": "Lee"}
GATE: Json = {"id": 123456, "is_bot": True, "first_name": "Gate", "username": "gate_bot"}
DIRECT: Json = {"id": 42, "first_name": "Ann", "type": "private"}
GROUP: Json = {"id": -1005550001112, "title": "Kitchen", "type": "supergroup"}
FORUM: Json = {"id": -1005550003333, "title": "Team", "type": "supergroup", "is_forum": True}
CHANNEL: Json = {"id": -100555, "title": "News", "type": "channel"}
WHEN = 1795982000


def recorded() -> dict[str, Json]:
    """Return the recorded updates by name."""
    file = Path(__file__).parents[2] / "contract" / "recorded" / "telegram.json"
    updates: dict[str, Json] = json.loads(file.read_text(encoding="utf-8"))
    return updates


def message(chat: Json = DIRECT, **fields: Any) -> Json:
    """Return a message by Ann; None removes a field."""
    whole = {"message_id": 10, "from": ANN, "chat": chat, "date": WHEN, **fields}
    return {key: value for key, value in whole.items() if value is not None}


def read(body: Json, kind: str = "message") -> InboundEvent:
    """Parse an update that holds ``body``."""
    return parse({"update_id": 1, kind: body}, me=ME)


def said(text: str, chat: Json = GROUP, **fields: Any) -> InboundEvent:
    """Parse a message with ``text`` in a group."""
    return read(message(chat, text=text, **fields))


def entity(text: str, part: str, kind: str = "mention", **fields: Any) -> Json:
    """Return an entity that marks ``part`` of ``text``, in UTF-16 units."""
    start = text.index(part)
    return {
        "type": kind,
        "offset": len(text[:start].encode("utf-16-le")) // 2,
        "length": len(part.encode("utf-16-le")) // 2,
        **fields,
    }
