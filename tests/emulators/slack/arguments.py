"""Arguments of one Web API call, from query, form, multipart or JSON alike."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import web


@dataclass(frozen=True, slots=True)
class Arguments:
    """Raw values, read as the type a method asks for."""

    values: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Return the raw value as text, "" when absent."""
        value = self.values.get(name, "")
        return value if isinstance(value, str) else json.dumps(value)

    def number(self, name: str, default: int) -> int:
        """Return a whole number; anything else counts as ``default``."""
        try:
            return int(self.text(name))
        except ValueError:
            return default

    def flag(self, name: str) -> bool:
        """Return a boolean; absent is false."""
        return self.text(name).lower() in {"true", "1"}

    def structure(self, name: str) -> Any:
        """Return a JSON value, also one that came as text; None when absent or unreadable."""
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            return None


async def read_arguments(request: web.Request) -> tuple[Arguments, str]:
    """Return the arguments and the token, from the header or from ``token`` among them."""
    values: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        values |= await request.json()
    else:
        posted = await request.post()
        values |= {key: value for key, value in posted.items() if isinstance(value, str)}
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return Arguments(values), token or str(values.pop("token", ""))
