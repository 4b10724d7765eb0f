"""Recorded payloads and the app that they were recorded by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.slack.manifest import SLACK
from adapters.slack.people import Me, View
from gateway.model.ids import AccountId, ScopeId, UserId

if TYPE_CHECKING:
    from gateway.model.events import InboundEvent

Json = dict[str, Any]

ME = Me(AccountId("1001"), ScopeId("T1"), UserId("U0BOT"), bot="B0BOT")
VIEW = View(ME)

_RECORDED = Path(__file__).parents[2] / "contract" / "recorded" / "slack.json"


def recorded() -> dict[str, Json]:
    """Return the recorded payloads by name."""
    found: dict[str, Json] = json.loads(_RECORDED.read_text(encoding="utf-8"))
    return found


def message(text: str = "hello", **fields: Any) -> Json:
    """Return a message event in a direct message."""
    event = {"type": "message", "user": "U1", "ts": "1795982000.000100", "channel": "D1"}
    return {**event, "text": text, "team": "T1", **fields}


def payload(event: Any, **envelope: Any) -> Json:
    """Wrap an event as the Events API does."""
    return {
        "team_id": "T1",
        "type": "event_callback",
        "event_id": "Ev1",
        "event": event,
    } | envelope


def only(event: InboundEvent | None) -> InboundEvent:
    """Return an event that must be there."""
    assert event is not None
    assert event.platform == SLACK
    return event
