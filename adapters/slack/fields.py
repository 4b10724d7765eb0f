"""Typed reading of Slack's JSON: its ids and its ts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gateway.text import fields

_TS = re.compile(r"([0-9]{1,11})\.([0-9]{1,6})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Fields(fields.Fields):
    """One JSON object of Slack. Every reader raises ``ParseError`` for a wrong type."""

    def required(self, key: str) -> str:
        """Return a text that must be there and not be empty: ids."""
        value = self.text(key)
        if not value:
            raise self.odd(key, "a text")
        return value

    def ts(self, key: str) -> str:
        """Return a message's ts, which must be there, exactly as Slack wrote it."""
        value = self.text(key)
        if not _TS.fullmatch(value):
            raise self.odd(key, "a ts like 1700000000.000100")
        return value


def order(ts: str) -> tuple[int, int]:
    """Return what a ts sorts by; (0, 0) for anything else."""
    found = _TS.fullmatch(ts)
    return (int(found[1]), int(found[2].ljust(6, "0"))) if found else (0, 0)


def moment(ts: str) -> datetime:
    """Return the time that a ts names, aware UTC."""
    seconds, micros = order(ts)
    return _EPOCH + timedelta(seconds=seconds, microseconds=micros)
