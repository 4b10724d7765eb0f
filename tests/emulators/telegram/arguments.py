"""Arguments of one method call, from query, form, multipart or JSON alike."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Mapping

#: never decoded: they are text even when they look like JSON
_PLAIN = {"text", "caption", "chat_id"}


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that came as a multipart field."""

    name: str
    mime: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Arguments:
    """Raw values as text, decoded where a method asks for a type."""

    values: Mapping[str, str]
    uploads: Mapping[str, Upload] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return the raw value, "" when absent."""
        return self.values.get(name, "")

    def number(self, name: str, default: int = 0) -> int:
        """Return a number; anything else counts as ``default``, as the server reads it."""
        try:
            return int(self.text(name))
        except ValueError:
            return default

    def flag(self, name: str) -> bool:
        """Return a boolean; absent is false."""
        return self.text(name).lower() in {"true", "yes", "1"}

    def structure(self, name: str) -> Any:
        """Return a JSON value, None when absent or unreadable."""
        try:
            return json.loads(self.text(name))
        except json.JSONDecodeError:
            return None

    def decoded(self) -> dict[str, Any]:
        """Return all values, JSON ones decoded, for tests to look at."""
        return {
            name: raw if name in _PLAIN else self._readable(name)
            for name, raw in self.values.items()
        }

    def _readable(self, name: str) -> Any:
        value = self.structure(name)
        return self.text(name) if value is None else value


async def read_arguments(request: web.Request) -> Arguments:
    """Read a request's arguments; a body overrides the query."""
    values = dict(request.query)
    uploads: dict[str, Upload] = {}
    if request.content_type == "application/json":
        body = await request.json()
        values |= {key: _as_text(value) for key, value in body.items()}
    else:
        for name, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                content = value.file.read()
                value.file.close()
                uploads[name] = Upload(value.filename, value.content_type, content)
            else:
                values[name] = value if isinstance(value, str) else bytes(value).decode()
    return Arguments(values, uploads)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
