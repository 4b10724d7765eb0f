"""Lengths and offsets in UTF-16 units and code points."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.text.units import measure, utf16_length, utf16_offsets
from tests.unit.text.documents import FAMILY


@pytest.mark.parametrize(
    ("text", "utf16", "points"),
    [
        ("", 0, 0),
        ("abc", 3, 3),
        ("привет", 6, 6),
        ("\U0001f600" * 2100, 4200, 2100),
        (FAMILY, 11, 7),
        ("a\ud83d", 2, 2),
    ],
)
def test_length_in_each_unit(text: str, utf16: int, points: int) -> None:
    assert measure(text, "utf16") == utf16_length(text) == utf16
    assert measure(text, "points") == points


def test_an_unknown_unit_is_named() -> None:
    with pytest.raises(ValueError, match="'bytes'"):
        measure("a", "bytes")


@given(st.text(), st.data())
def test_offsets_are_the_lengths_of_what_stands_before(text: str, data: st.DataObject) -> None:
    positions = data.draw(st.lists(st.integers(0, len(text)), max_size=6))
    assert utf16_offsets(text, positions) == [utf16_length(text[:at]) for at in positions]
