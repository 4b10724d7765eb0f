"""Aligned text for a terminal: tables without rules, which read well in a pipe and aloud."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from gateway.cli.common import MISUSED, fail
from gateway.settings.findings import nearest, shown_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table's lines, every column as wide as its widest cell on a screen."""
    table = [[cell.upper() for cell in head], *rows]
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in table
    ]


def pairs(found: Iterable[tuple[str, str]]) -> list[str]:
    """Return lines of a label and its value; later lines of a value stand below the first."""
    kept = [(label, value) for label, value in found if value]
    width = max((len(label) for label, _ in kept), default=0) + 2
    return [
        f"{label if not number else '':<{width}}{line}".rstrip()
        for label, value in kept
        for number, line in enumerate(value.splitlines())
    ]


def one_of(word: str, valid: Mapping[str, str], kind: str) -> str:
    """Return ``word`` if it is valid, else end the command naming the nearest and what is valid.

    ``valid`` maps each word to what it means; ``kind`` is what the word should be.
    """
    if word not in valid:
        close = nearest(word, valid)
        hint = f"; did you mean {close}?" if close else "."
        lines = [f"{shown_text(word)} is not a {kind}{hint} There are:", *choices(valid)]
        fail("\n".join(lines), MISUSED)
    return word


def choices(valid: Mapping[str, str], current: str = "") -> list[str]:
    """Return a line for each choice, the present one marked."""
    width = max(map(len, valid))
    return [
        f"  {'→' if word == current else ' '} {word:<{width}}  {meaning}"
        for word, meaning in valid.items()
    ]
