"""Several texts as one readable key, and back: no two tuples share a key."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Iterable

_NONE = "-"


def join(parts: Iterable[str | None], separator: str) -> str:
    """Join at least one part; ``split`` gives exactly the same parts back.

    ``separator`` is one ASCII character other than ``%`` and ``-``. ASCII letters, digits and
    ``._~-/`` stay readable unless they are the separator; None is written as ``-``.
    """
    return separator.join(_NONE if part is None else _escape(part, separator) for part in parts)


def split(text: str, separator: str) -> list[str | None]:
    """Undo ``join``."""
    return [None if part == _NONE else _unescape(part) for part in text.split(separator)]


def _escape(part: str, separator: str) -> str:
    if part == _NONE:
        return "%2D"
    return quote(part, safe="/", errors="surrogatepass").replace(
        separator, f"%{ord(separator):02X}"
    )


def _unescape(part: str) -> str:
    return unquote(part, errors="surrogatepass")
