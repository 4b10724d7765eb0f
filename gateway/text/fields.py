"""Typed reading of a platform's JSON: what is missing or odd is one clear error with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from gateway.model.errors import PlatformError
from gateway.text.clean import clean, nfc


class ParseError(PlatformError):
    """An event is not shaped as its platform documents it."""

    code = "unparsable"


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object and where it stands, so that an error can name the place.

    Keys nobody asks for are never looked at; null counts as absent. Every reader raises
    ``ParseError`` for a wrong type and never quotes the value. Adapters add what only their
    platform has: its ids and times.
    """

    values: Mapping[str, object]
    path: str

    @classmethod
    def of(cls, value: object, path: str) -> Self:
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
            raise self.odd(key, "a text")
        return value

    def name(self, key: str) -> str:
        """Return a text that names something: cleaned, composed, without outer blanks."""
        return nfc(clean(self.text(key))).strip()

    def flag(self, key: str) -> bool:
        """Return a truth value, False when absent."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.odd(key, "true or false")
        return bool(value)

    def number(self, key: str) -> int | None:
        """Return a whole number of any size, None when absent."""
        value = self.values.get(key)
        if value is None:
            return None
        if type(value) is not int:
            raise self.odd(key, "a whole number")
        return value

    def child(self, key: str) -> Self | None:
        """Return the object under ``key``, None when absent."""
        value = self.values.get(key)
        return None if value is None else self.of(value, f"{self.path}.{key}")

    def children(self, key: str) -> tuple[Self, ...]:
        """Return the list of objects under ``key``, empty when absent."""
        return tuple(
            self.of(item, f"{self.path}.{key}[{i}]") for i, item in enumerate(self.items(key))
        )

    def items(self, key: str) -> list[object]:
        """Return the list under ``key``, empty when absent."""
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.odd(key, "a list")
        return value

    def odd(self, key: str, wanted: str) -> ParseError:
        """Return the error for a key that does not hold what is wanted."""
        found = type(self.values.get(key)).__name__
        return ParseError(f"{self.path}.{key}: expected {wanted}, got {found}")
