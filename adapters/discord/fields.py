"""Typed reading of Discord's JSON: what is missing or odd is one clear error with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.model.errors import PlatformError
from gateway.text.clean import clean, nfc

#: where Discord's ids begin to count, in Unix milliseconds
EPOCH_MS = 1_420_070_400_000


class ParseError(PlatformError):
    """An event is not shaped as Discord documents it."""

    code = "unparsable"


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object and where it stands, so that an error can name the place.

    Keys nobody asks for are never looked at. A null counts as absent, as Discord means it.
    Every reader raises ``ParseError`` for a wrong type and never quotes the value.
    """

    values: Mapping[str, object]
    path: str

    @classmethod
    def of(cls, value: object, path: str) -> Fields:
        """Take ``value`` as an object; raise ``ParseError`` when it is none."""
        if not isinstance(value, Mapping):
            raise ParseError(f"{path}: expected an object, got {type(value).__name__}")
        return cls(value, path)

    def has(self, key: str) -> bool:
        """Say whether ``key`` is present, whatever its type."""
        return self.values.get(key) is not None

    def text(self, key: str) -> str:
        """Return a text, "" when absent."""
        value = self.values.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self._odd(key, "a text")
        return value

    def name(self, key: str) -> str:
        """Return a text that names something: cleaned, composed, without outer blanks."""
        return nfc(clean(self.text(key))).strip()

    def flag(self, key: str) -> bool:
        """Return a truth value, False when absent."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self._odd(key, "true or false")
        return bool(value)

    def number(self, key: str) -> int:
        """Return a whole number, 0 when absent."""
        value = self.values.get(key)
        if value is None:
            return 0
        if type(value) is not int:
            raise self._odd(key, "a whole number")
        return value

    def id(self, key: str = "id") -> str:
        """Return an id, which must be there, as its exact digits."""
        if not self.has(key):
            raise self._odd(key, "an id")
        return self._id(self.values[key], key)

    def id_or_none(self, key: str) -> str | None:
        """Return an id, None when absent."""
        return self.id(key) if self.has(key) else None

    def ids(self, key: str) -> tuple[str, ...]:
        """Return a list of ids, empty when absent."""
        return tuple(self._id(item, key) for item in self._list(key))

    def moment(self, key: str) -> datetime:
        """Return a time, which must be there, as aware UTC."""
        try:
            moment = datetime.fromisoformat(self.text(key))
        except ValueError as error:
            raise self._odd(key, "a time") from error
        if moment.tzinfo is None:
            raise self._odd(key, "a time with its zone")
        return moment.astimezone(UTC)

    def made_at(self) -> datetime:
        """Return the moment that the object's id was made at, as aware UTC."""
        try:
            return datetime.fromtimestamp(((int(self.id()) >> 22) + EPOCH_MS) / 1000, UTC)
        except (OverflowError, ValueError, OSError) as error:
            raise self._odd("id", "an id of Discord") from error

    def child(self, key: str) -> Fields | None:
        """Return the object under ``key``, None when absent."""
        value = self.values.get(key)
        return None if value is None else Fields.of(value, f"{self.path}.{key}")

    def children(self, key: str) -> tuple[Fields, ...]:
        """Return the list of objects under ``key``, empty when absent."""
        return tuple(
            Fields.of(item, f"{self.path}.{key}[{i}]") for i, item in enumerate(self._list(key))
        )

    def _list(self, key: str) -> list[object]:
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self._odd(key, "a list")
        return value

    def _id(self, value: object, key: str) -> str:
        """A snowflake is text; a whole number keeps its digits, anything else would not."""
        if isinstance(value, str) and value.isascii() and value.isdecimal():
            return value
        if type(value) is int and value >= 0:
            return str(value)
        raise self._odd(key, "an id of digits")

    def _odd(self, key: str, wanted: str) -> ParseError:
        found = type(self.values.get(key)).__name__
        return ParseError(f"{self.path}.{key}: expected {wanted}, got {found}")
