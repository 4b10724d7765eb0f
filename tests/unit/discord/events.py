"""Recorded events, and small ones made to measure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from adapters.discord.directory import Channel, Surroundings
from gateway.model.ids import AccountId

Json = dict[str, Any]

ME = AccountId("111")
GUILD, CHANNEL, THREAD, DIRECT = "900", "901", "905", "842"
ROLE = "777"
#: an id made at ``WHEN``
MESSAGE = "1576694297900613633"
WHEN = "2026-11-29T20:20:14.183151+00:00"

_RECORDED = Path(__file__).parents[2] / "contract" / "recorded" / "discord.json"

CHANNELS = {
    CHANNEL: Channel(CHANNEL, GUILD, "general"),
    THREAD: Channel(THREAD, GUILD, "topic", parent=CHANNEL),
}
ANN: Json = {"id": "42", "username": "ann", "global_name": "Ann", "discriminator": "0"}
GATE: Json = {"id": "111", "username": "gate", "global_name": None, "bot": True}


def recorded() -> dict[str, Json]:
    """Return the recorded dispatches by name."""
    loaded: dict[str, Json] = json.loads(_RECORDED.read_text("utf-8"))
    return loaded


def around(
    channel: str | None = None, *, roles: frozenset[str] = frozenset({ROLE})
) -> Surroundings:
    """Return what is known where an event happened."""
    return Surroundings(ME, CHANNELS.get(channel or ""), roles)


def message(content: object = "", **fields: Any) -> Json:
    """Return a direct message of Ann."""
    return {
        "id": MESSAGE,
        "channel_id": DIRECT,
        "author": ANN,
        "content": content,
        "timestamp": WHEN,
        "edited_timestamp": None,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "type": 0,
        "flags": 0,
        **fields,
    }
