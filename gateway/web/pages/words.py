"""How times, spans and states are said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

#: what a state is called, and how it is coloured: good | busy | warn | bad | calm
WORDS: dict[str, tuple[str, str]] = {
    "connected": ("connected", "good"),
    "starting": ("starting", "busy"),
    "retrying": ("retrying", "warn"),
    "conflict": ("conflict", "bad"),
    "bad_credentials": ("bad credentials", "bad"),
    "stopped": ("stopped", "calm"),
    "well": ("well", "good"),
    "failing": ("failing", "warn"),
    "paused": ("left alone for now", "bad"),
    "off": ("off", "calm"),
    "waiting": ("waiting", "busy"),
    "sending": ("sending", "busy"),
    "delivered": ("delivered", "good"),
    "failed": ("failed", "bad"),
    "unknown": ("unknown", "warn"),
    "admitted": ("admitted", "busy"),
    "running": ("running", "busy"),
    "answered": ("answered", "good"),
    "settled": ("settled", "good"),
    "refused": ("refused", "calm"),
    "expired": ("expired", "calm"),
    "dead": ("given up", "bad"),
    "open": ("open", "good"),
    "closed": ("closed", "calm"),
    "saved": ("saved", "good"),
    "due": ("due", "busy"),
    "held": ("held", "busy"),
    "parked": ("set aside", "warn"),
    "skipped": ("skipped", "calm"),
    "ok": ("ok", "good"),
    "done": ("done", "good"),
    "started": ("started", "busy"),
}
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))


def moment(at: datetime, zone: ZoneInfo, *, seconds: bool = False) -> Markup:
    """Return a time in the configured zone, with the whole of it for machines."""
    local = at.astimezone(zone)
    text = f"{local:%d %b %Y, %H:%M:%S}" if seconds else f"{local:%d %b %Y, %H:%M}"
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(), text)


def ago(at: datetime, now: datetime) -> Markup:
    """Return how long ago something was, no more exactly than by minutes."""
    text = span(max(0.0, (now - at).total_seconds()))
    said = "just now" if text == "" else f"{text} ago"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        at.isoformat(), f"{at:%Y-%m-%d %H:%M} UTC", said
    )


def span(seconds: float) -> str:
    """Return a length of time in its largest unit, "" below a minute."""
    for unit, size in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return ""


def place(recorded: str) -> str:
    """Return ``FILE:LINE`` without the folders."""
    return recorded.rpartition("/")[2]
