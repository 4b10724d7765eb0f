"""The audit's chain: whatever is done to it, the first row at fault is named."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from gateway.policy.chain import GENESIS, Point, Row, link, verify

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2026, 11, 29, 12, 0, 0, 5, tzinfo=UTC)


def _chain(length: int) -> list[Row]:
    rows: list[Row] = []
    for seq in range(1, length + 1):
        row = Row(seq, NOW + timedelta(seconds=seq), "cli", "done", f"part:{seq}", {"n": 1}, "")
        rows.append(replace(row, hash=link(rows[-1].hash if rows else GENESIS, row)))
    return rows


def _point(row: Row) -> Point:
    return Point(row.seq, row.hash)


def _change(**values: object) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [rows[0], rows[1], replace(rows[2], **values), *rows[3:]]  # type: ignore[arg-type]


def _rewrite(rows: list[Row]) -> list[Row]:
    """Change a row and give it the hash that fits: the next one tells."""
    forged = replace(rows[2], action="else")
    return [*rows[:2], replace(forged, hash=link(rows[1].hash, forged)), *rows[3:]]


def test_a_sound_chain_is_sound_also_when_its_beginning_was_dropped() -> None:
    rows = _chain(5)
    whole = verify(rows, anchor=Point(), head=_point(rows[-1]))
    assert (whole.rows, whole.problem, whole.last) == (5, "", _point(rows[-1]))
    cut = verify(rows[2:], anchor=_point(rows[1]), head=_point(rows[-1]))
    assert (cut.rows, cut.problem) == (3, "")
    assert verify([], anchor=Point(), head=Point()).problem == ""
    assert verify([], anchor=_point(rows[-1]), head=_point(rows[-1])).problem == ""


@pytest.mark.parametrize(
    ("spoil", "seq", "problem"),
    [
        (_change(action="else"), 3, "was changed"),
        (_change(actor="nobody"), 3, "was changed"),
        (_change(subject="part:9"), 3, "was changed"),
        (_change(detail={"n": 2}), 3, "was changed"),
        (_change(at=NOW), 3, "was changed"),
        (_change(hash="0" * 64), 3, "was changed"),
        (_rewrite, 4, "was changed"),
        (lambda rows: rows[1:], 1, "row 1 is missing"),
        (lambda rows: [*rows[:2], *rows[3:]], 3, "row 3 is missing"),
        (lambda rows: rows[:4], 5, "newest rows were taken away"),
        (lambda rows: [], 1, "newest rows were taken away"),
        (lambda rows: [rows[0], rows[2], rows[1], *rows[3:]], 2, "row 2 is missing"),
        (lambda rows: [*_chain(4), replace(rows[4], hash="f" * 64)], 5, "was changed"),
        (lambda rows: _chain(6), 6, "not the one that was written last"),
    ],
)
def test_the_first_row_at_fault_is_named(
    spoil: Callable[[list[Row]], list[Row]], seq: int, problem: str
) -> None:
    rows = _chain(5)
    verdict = verify(spoil(rows), anchor=Point(), head=_point(rows[-1]))
    assert verdict.seq == seq
    assert problem in verdict.problem


def test_a_time_counts_as_a_moment_whatever_its_zone() -> None:
    row = _chain(1)[0]
    moved = replace(row, at=row.at.astimezone(timezone(timedelta(hours=8))))
    assert link(GENESIS, moved) == row.hash
