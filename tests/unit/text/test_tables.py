"""Tables line up in a fixed-width font."""

from __future__ import annotations

import pytest

from gateway.text.tables import WIDEST, display_width, layout
from tests.unit.text.documents import FAMILY


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("abc", 3),
        ("ä", 1),
        ("a\u0301", 1),
        ("王小明", 6),
        ("한글", 4),
        ("\U0001f600", 2),
        (FAMILY, 2),
        ("\U0001f1e9\U0001f1ea", 2),
        ("❤\ufe0f", 2),
        ("1\ufe0f\u20e3", 2),
        ("\u200b", 0),
        ("ｱ", 1),
        ("", 0),
    ],
)
def test_width_on_the_screen(text: str, width: int) -> None:
    assert display_width(text) == width


def test_columns_are_aligned_by_what_is_seen() -> None:
    rows = [["Name", "Age", "?"], ["王小明", "7", "a"], ["Zoë", "12", "bcd"]]
    assert layout(rows, ["left", "right", "center"]).split("\n") == [
        "Name   | Age |  ?",
        "-------+-----+----",
        "王小明 |   7 |  a",
        "Zoë    |  12 | bcd",
    ]


def test_empty_cells_at_the_end_take_no_room() -> None:
    assert layout([["a", "b"], ["c", ""]], ["", ""]) == "a | b\n--+--\nc"


def test_a_long_cell_moves_its_own_row_only() -> None:
    drawn = layout([["a", "b"], ["x" * 100, "y"], ["z", "w"]], ["", ""]).split("\n")
    assert drawn[2] == "x" * 100 + " | y"
    assert drawn[3] == "z" + " " * (WIDEST - 1) + " | w"


def test_padding_cannot_blow_a_table_up() -> None:
    rows = [["h" * WIDEST, "i"], *([["a", "b"]] * 2000)]
    drawn = layout(rows, ["", ""])
    assert len(drawn) < 8 * sum(len(cell) + 1 for row in rows for cell in row)
    assert drawn.split("\n")[2] == "a | b"
