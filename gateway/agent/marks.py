"""The marks around what the gateway says to a model; nothing from outside may hold them. Pure."""

from __future__ import annotations

from gateway.text.clean import one_line

_MARKS = str.maketrans("⟦⟧〚〛", "[][]")
_NAME_LIMIT = 80


def unmarked(text: str) -> str:
    """Return text from outside with the marks replaced."""
    return text.translate(_MARKS)


def label(name: str, unknown: str) -> str:
    """Return a name from outside as one short line."""
    return one_line(unmarked(name), _NAME_LIMIT) or unknown


def quoted(words: str, limit: int) -> str:
    """Return words from outside as one line of at most ``limit`` characters."""
    return one_line(unmarked(words), limit)
