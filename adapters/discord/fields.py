"""Typed reading of Discord's JSON: its snowflakes and its times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.text import fields

#: where Discord's ids begin to count, in Unix milliseconds
EPOCH_MS = 1_420_070_400_000


@dataclass(frozen=True, slots=True)
class Fields(fields.Fields):
    """One JSON object of Discord. Every reader raises ``ParseError`` for a wrong type."""

    def code(self, key: str) -> int:
        """Return a whole number that is a kind or a set of flags: 0 when absent."""
        return self.number(key) or 0

    def id(self, key: str = "id") -> str:
        """Return an id, which must be there, as its exact digits."""
        if not self.has(key):
            raise self.odd(key, "an id")
        return self._id(self.values[key], key)

    def id_or_none(self, key: str) -> str | None:
        """Return an id, None when absent."""
        return self.id(key) if self.has(key) else None

    def ids(self, key: str) -> tuple[str, ...]:
        """Return a list of ids, empty when absent."""
        return tuple(self._id(item, key) for item in self.items(key))

    def moment(self, key: str) -> datetime:
        """Return a time, which must be there, as aware UTC."""
        try:
            moment = datetime.fromisoformat(self.text(key))
        except ValueError as error:
            raise self.odd(key, "a time") from error
        if moment.tzinfo is None:
            raise self.odd(key, "a time with its zone")
        return moment.astimezone(UTC)

    def made_at(self) -> datetime:
        """Return the moment that the object's id was made at, as aware UTC."""
        try:
            return datetime.fromtimestamp(((int(self.id()) >> 22) + EPOCH_MS) / 1000, UTC)
        except (OverflowError, ValueError, OSError) as error:
            raise self.odd("id", "an id of Discord") from error

    def _id(self, value: object, key: str) -> str:
        """A snowflake is text; a whole number keeps its digits, anything else would not."""
        if isinstance(value, str) and value.isascii() and value.isdecimal():
            return value
        if type(value) is int and value >= 0:
            return str(value)
        raise self.odd(key, "an id of digits")
