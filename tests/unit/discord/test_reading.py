"""Only what changed is handed in, and no token that could answer for us."""

from __future__ import annotations

import json

from adapters.discord.directory import Directory
from adapters.discord.reading import Reader
from gateway.model.events import EventKind
from tests.unit.discord.events import ME, message, recorded

LATER = "2026-11-29T21:00:00+00:00"


def reader() -> Reader:
    return Reader(Directory(ME))


def test_an_edit_that_changes_no_words_is_nothing() -> None:
    """H-18: somebody took a file away, or Discord added a preview behind an edit."""
    read = reader().read
    assert read("MESSAGE_CREATE", message("see it"))
    assert read("MESSAGE_UPDATE", message("see it", edited_timestamp=LATER)) is None
    changed = read("MESSAGE_UPDATE", message("see it now", edited_timestamp=LATER))
    assert changed is not None
    assert changed.event is not None
    assert changed.event.kind is EventKind.EDIT
    assert read("MESSAGE_UPDATE", message("see it now", edited_timestamp=LATER)) is None


def test_an_edit_of_a_forgotten_message_counts() -> None:
    assert reader().read("MESSAGE_UPDATE", message("x", edited_timestamp=LATER))


def test_what_cannot_be_read_is_named_by_its_content() -> None:
    odd, other = ({"id": "x", "content": f"private {n}"} for n in (1, 2))
    first, again = reader().read("MESSAGE_CREATE", odd), reader().read("MESSAGE_CREATE", odd)
    different = reader().read("MESSAGE_CREATE", other)
    assert first is not None
    assert first.event is None
    assert first.update.startswith("sha256:")
    assert first == again != different
    assert json.loads(first.raw) == {"t": "MESSAGE_CREATE", "d": odd}
    assert "private" not in first.fault


def test_an_interactions_token_is_not_kept() -> None:
    event = recorded()["slash_interaction"]
    received = reader().read(event["t"], event["d"])
    assert received is not None
    assert event["d"]["token"].encode() not in received.raw
