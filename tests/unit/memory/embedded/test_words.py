"""Counting the words of a query in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.memory.embedded import words


@pytest.mark.parametrize(
    ("query", "text", "count"),
    [
        ("tea", "I like tea.", 1),
        ("TEA", "tEa", 1),
        ("tea", "a steam engine", 0),
        ("oolong tea", "Tea, tea and oolong", 2),
        ("gardens", "the garden", 1),
        ("favourite colour", "my favourite colours", 2),
        ("what is it", "what is it?", 3),
        ("what is her cat called", "her dog is what it is", 0),
        ("кошка", "У меня живут кошки", 1),
        ("ГОРОД", "родился в городе", 1),
        ("什么茶", "我喜欢喝茶", 0),
        ("喝茶", "我喜欢喝茶", 1),
        ("东京塔", "我住在东京", 1),
        ("茶", "我喜欢喝茶", 1),
        ("Python", "我用Python写", 1),
        ("C++", "I write C++ daily", 1),
        ("🙂", "fine 🙂", 1),
        ("🙂", "fine", 0),
        ("", "anything", 0),
        ("  ", "any thing", 0),
        ("(", "a (b", 1),
        ("x.*y", "x and y", 2),
    ],
)
def test_count(query: str, text: str, count: int) -> None:
    assert words.query(query).count(text) == count


@given(st.text(), st.text())
def test_any_text_can_be_asked_of_any(query: str, text: str) -> None:
    asked = words.query(query)
    assert 0 <= asked.count(text) <= asked.size


@given(st.text(min_size=1))
def test_a_text_holds_all_its_own_words(text: str) -> None:
    asked = words.query(text)
    assert asked.count(text) == asked.size
