"""Typed reading of Telegram's JSON: its numbers for ids and its Unix times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.text import fields


@dataclass(frozen=True, slots=True)
class Fields(fields.Fields):
    """One JSON object of Telegram. Every reader raises ``ParseError`` for a wrong type."""

    def required(self, key: str) -> int:
        """Return a whole number that must be there."""
        value = self.number(key)
        if value is None:
            raise self.odd(key, "a whole number")
        return value

    def id(self, key: str = "id") -> str:
        """Return an id as its exact digits."""
        return str(self.required(key))

    def moment(self, key: str) -> datetime:
        """Return Unix seconds, which must be there, as aware UTC."""
        try:
            return datetime.fromtimestamp(self.required(key), UTC)
        except (OverflowError, ValueError, OSError) as error:
            raise self.odd(key, "a date") from error
