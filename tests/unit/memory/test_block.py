"""The recalled block and its budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.memory.block import compose, cut

BASE = {
    "identity": "Hermes is kind",
    "card": "Name: Ada",
    "summary": "They spoke of tea.",
    "representation": "Ada likes tea.",
    "self": "Hermes jokes.",
}


def test_sections_stand_in_their_order_and_the_dialectic_comes_last() -> None:
    text = compose(BASE, "Ask about the exam.", tokens=None)
    found = [
        text.index(part)
        for part in (
            "They spoke of tea.",
            "Ada likes tea.",
            "Name: Ada",
            "Hermes jokes.",
            "Hermes is kind",
            "Ask about the exam.",
        )
    ]
    assert found == sorted(found)


@pytest.mark.parametrize("base", [None, {}, {"summary": "  ", "card": ""}])
def test_where_nothing_is_known_nothing_is_said(base: dict[str, str] | None) -> None:
    assert compose(base, " \n", tokens=None) == ""


def test_empty_sections_leave_no_heading() -> None:
    assert compose({"card": "Name: Ada"}, "", tokens=None) == "Facts about the person:\nName: Ada"


def test_the_budget_counts_four_characters_a_token() -> None:
    text = compose({"card": "word " * 100}, "", tokens=20)
    assert len(text) <= 80
    assert text.endswith("word")


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("one two", 7, "one two"),
        ("one two", 6, "one"),
        ("one two", 3, "one"),
        ("one two", 4, "one"),
        ("unbroken", 4, "unbr"),
        ("a\nbc", 3, "a"),
    ],
)
def test_a_cut_ends_at_a_word(text: str, limit: int, kept: str) -> None:
    assert cut(text, limit) == kept


@given(st.text(), st.integers(1, 50))
def test_a_cut_is_a_head_of_the_text(text: str, limit: int) -> None:
    kept = cut(text, limit)
    assert len(kept) <= limit
    assert text.startswith(kept)
