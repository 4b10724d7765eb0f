"""What is asked of the Web API, and by what it is found again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model.ids import PlaceId, ThreadId

#: ``event_type`` of the metadata by which our own messages are found again
METADATA = "hermes_gateway_part"


@dataclass(frozen=True, slots=True)
class Draft:
    """One message as it will be tried. ``text`` (mrkdwn) stays out of ``repr``."""

    place: PlaceId
    text: str = field(repr=False)
    key: str
    thread: ThreadId | None = None
    #: what is shown in place of ``text``, which then stands in notifications only
    blocks: Sequence[dict[str, Any]] = field(default=(), repr=False)

    @property
    def metadata(self) -> dict[str, object]:
        """What the message is found again by."""
        return {"event_type": METADATA, "event_payload": {"key": self.key}}


@dataclass(frozen=True, slots=True)
class FileAddress:
    """Where a file lies, and what it should be."""

    address: str = field(repr=False)
    mime: str = ""
    size: int | None = None


def files_of(message: dict[str, Any]) -> set[str]:
    """Return the names of the files that a message read back carries."""
    files = message.get("files")
    held = files if isinstance(files, list) else []
    return {str(each.get("name")) for each in held if isinstance(each, dict)}


def key_of(message: dict[str, Any]) -> str:
    """Return the key that a message read back was sent with, "" for any other message."""
    metadata = message.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("event_type") != METADATA:
        return ""
    payload = metadata.get("event_payload")
    key = payload.get("key") if isinstance(payload, dict) else None
    return key if isinstance(key, str) else ""
