"""Files that the agent sends: how many, how large, and under which names they are kept."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.model.ids import TurnId

#: files of one answer
MOST = 10
#: bytes of a document that a model writes
LARGEST = 1_000_000
#: an answer of more messages than this is attached as one document besides
MANY_PARTS = 6


def stored_name(turn: TurnId, ordinal: int, label: str) -> str:
    """Return our own name for a turn's file: the same again when the turn is run again."""
    kind = label.rpartition(".")[2].lower()
    ending = kind if kind.isascii() and kind.isalnum() else "bin"
    return f"{hashlib.sha256(f'{turn}/{ordinal}'.encode()).hexdigest()[:32]}.{ending}"


def marked(label: str, key: str) -> str:
    """Return ``label`` as a name that only the part with ``key`` has: ``plan-3f9a12c4.md``."""
    stem, dot, kind = label.rpartition(".")
    mark = hashlib.sha256(key.encode()).hexdigest()[:8]
    return f"{stem}-{mark}{dot}{kind}"
