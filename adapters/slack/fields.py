"""Typed reading of Slack's JSON: what is missing or odd is one clear error with its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gateway.model.errors import PlatformError
from gateway.text.clean import clean, nfc

_TS = re.compile(r"([0-9]{1,11})\.([0-9]{1,6})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ParseError(PlatformError):
    """An event is not shaped as Slack documents it."""

    code = "unparsable"


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object and where it stands, so that an error can name the place.

    Keys nobody asks for are never looked at; null counts as absent. Every reader raises
    ``ParseError`` for a wrong type and never quotes the value.
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

    def required(self, key: str) -> str:
        """Return a text that must be there and not be empty: ids."""
        value = self.text(key)
        if not value:
            raise self._odd(key, "a text")
        return value

    def name(self, key: str) -> str:
        """Return a text that names something: cleaned, composed, without outer blanks."""
        return nfc(clean(self.text(key))).strip()

    def number(self, key: str) -> int | None:
        """Return a whole number, None when absent."""
        value = self.values.get(key)
        if value is None:
            return None
        if type(value) is not int:
            raise self._odd(key, "a whole number")
        return value

    def ts(self, key: str) -> str:
        """Return a message's ts, which must be there, exactly as Slack wrote it."""
        value = self.text(key)
        if not _TS.fullmatch(value):
            raise self._odd(key, "a ts like 1700000000.000100")
        return value

    def child(self, key: str) -> Fields | None:
        """Return the object under ``key``, None when absent."""
        value = self.values.get(key)
        return None if value is None else Fields.of(value, f"{self.path}.{key}")

    def children(self, key: str) -> tuple[Fields, ...]:
        """Return the list of objects under ``key``, empty when absent."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self._odd(key, "a list")
        return tuple(Fields.of(item, f"{self.path}.{key}[{i}]") for i, item in enumerate(value))

    def _odd(self, key: str, wanted: str) -> ParseError:
        found = type(self.values.get(key)).__name__
        return ParseError(f"{self.path}.{key}: expected {wanted}, got {found}")


def order(ts: str) -> tuple[int, int]:
    """Return what a ts sorts by; (0, 0) for anything else."""
    found = _TS.fullmatch(ts)
    return (int(found[1]), int(found[2].ljust(6, "0"))) if found else (0, 0)


def moment(ts: str) -> datetime:
    """Return the time that a ts names, aware UTC."""
    seconds, micros = order(ts)
    return _EPOCH + timedelta(seconds=seconds, microseconds=micros)
