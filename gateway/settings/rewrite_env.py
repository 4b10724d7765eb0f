"""Change single variables of .env; every other line stays as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gateway.model.errors import ConfigurationError
from gateway.settings.replace import rewrite
from gateway.settings.splice import Remove

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SAFE_VALUE = re.compile(r"[A-Za-z0-9_.,:/@%+=-]*")


def edit_env(path: Path, expected_digest: str, changes: Mapping[str, str | Remove]) -> str:
    """Set or remove variables and return the file's new digest; errors as in ``rewrite.edit``."""
    return rewrite(path, expected_digest, lambda text: changed(path, text, changes))


def changed(path: Path, text: str, changes: Mapping[str, str | Remove]) -> str:
    """Return the text that ``edit_env`` would give the file. Raises ``ConfigurationError``."""
    newline = "\r\n" if "\r\n" in text else "\n"
    for name, value in changes.items():
        if not _VARIABLE.fullmatch(name):
            raise ConfigurationError(f"{path}: {name!r} cannot be a variable's name")
        own = re.compile(rf"^[ \t]*(?:export[ \t]+)?{name}[ \t]*=[^\n]*(?:\n|\Z)", re.MULTILINE)
        lines = (
            [] if isinstance(value, Remove) else [f"{name}={_quote(path, name, value)}{newline}"]
        )
        found = list(own.finditer(text))
        if lines and found:
            start, end = found[-1].span()
            text = text[:start] + lines.pop() + text[end:]
            found.pop()
        for one in reversed(found):
            text = text[: one.start()] + text[one.end() :]
        if lines and text and not text.endswith("\n"):
            text += newline
        text += "".join(lines)
    return text


def _quote(path: Path, name: str, value: str) -> str:
    if _SAFE_VALUE.fullmatch(value):
        return value
    if not value.isprintable():
        raise ConfigurationError(f"{path}: {name}: line breaks or control characters in the value")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
