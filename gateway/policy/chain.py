"""The audit's chain: each row's hash covers what it says and the hash of the row before it.

So a row that was changed, taken out, put in or moved no longer fits, and the first that does not
fit can be named. Rows may be cut off at the old end: the *anchor* is the last of those.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

#: what stands before the first row
GENESIS = "0" * 64


class Point(NamedTuple):
    """A place in the chain: a row's number and hash, or what stands before the first."""

    seq: int = 0
    hash: str = GENESIS


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it is stored."""

    seq: int
    at: datetime
    actor: str
    action: str
    subject: str
    detail: Mapping[str, Any]
    hash: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a check: ``problem`` is "" for a sound chain, ``seq`` the row at fault."""

    rows: int
    last: Point
    problem: str = ""
    seq: int = 0


def link(before: str, row: Row) -> str:
    """Return the hash of ``row`` behind a row with the hash ``before``."""
    said = [
        before,
        row.seq,
        row.at.astimezone(UTC).isoformat(timespec="microseconds"),
        row.actor,
        row.action,
        row.subject,
        row.detail,
    ]
    text = json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def verify(rows: Iterable[Row], *, anchor: Point, head: Point) -> Verdict:
    """Follow the chain from ``anchor`` through ``rows``, oldest first, to ``head``."""
    last, number = anchor, 0
    for row in rows:
        if row.seq != last.seq + 1:
            problem = f"row {last.seq + 1} is missing"
            return Verdict(number, last, problem, last.seq + 1)
        if row.hash != link(last.hash, row):
            problem = f"row {row.seq} does not follow from the row before it: it was changed"
            return Verdict(number, last, problem, row.seq)
        last, number = Point(row.seq, row.hash), number + 1
    if last == head:
        return Verdict(number, last)
    if last.seq < head.seq:
        problem = f"row {last.seq + 1} is missing: the newest rows were taken away"
        return Verdict(number, last, problem, last.seq + 1)
    problem = f"row {last.seq} is not the one that was written last"
    return Verdict(number, last, problem, last.seq)
