"""JSON as people write it for other products: comments, bare keys, commas too many."""

from __future__ import annotations

import json
import re
from typing import Any

_PIECE = re.compile(
    r""""(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | //[^\n]* | /\*.*?\*/""", re.VERBOSE | re.DOTALL
)
_STRING = re.compile(r'"(?:\\.|[^"\\])*"', re.DOTALL)
_KEY = re.compile(r"([{,]\s*)([A-Za-z_$][\w$]*)(\s*:)")
_COMMA = re.compile(r",(\s*[}\]])")


def loads(text: str) -> Any:
    """Return the value. Raises ``ValueError`` for what is no JSON even so."""
    strict = _PIECE.sub(lambda found: _strict(found[0]), text)
    return json.loads(_outside(strict))


def _strict(piece: str) -> str:
    """Return a string in double quotes, and nothing for a comment."""
    if piece.startswith("/"):
        return ""
    if piece.startswith('"'):
        return piece
    return '"' + piece[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'


def _outside(text: str) -> str:
    """Quote bare keys and drop commas before a closing bracket, but never inside a string."""
    strings: list[str] = []

    def aside(found: re.Match[str]) -> str:
        strings.append(found[0])
        return f'"{len(strings) - 1}"'

    bare = _STRING.sub(aside, text)
    bare = _COMMA.sub(r"\1", _KEY.sub(r'\1"=\2"\3', bare))
    return _STRING.sub(lambda found: _back(found[0], strings), bare)


def _back(marked: str, strings: list[str]) -> str:
    inner = marked[1:-1]
    return f'"{inner[1:]}"' if inner.startswith("=") else strings[int(inner)]
