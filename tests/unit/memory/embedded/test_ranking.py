"""What fits a question: rare words first, two orders fused by rank."""

from __future__ import annotations

import pytest

from gateway.memory.embedded.ranking import by_words, fuse


def test_a_rare_word_counts_more() -> None:
    texts = ["the tea is cold", "the zebra is cold", "the tea is hot", "tea"]
    assert by_words("cold zebra tea", texts) == [1, 0, 2, 3]
    assert by_words("dinosaur", texts) == []
    assert by_words("cold zebra tea", texts, least=1.0) == [1, 0]


def test_among_equals_the_given_order() -> None:
    assert by_words("tea", ["tea one", "tea two", "tea three"]) == [0, 1, 2]


@pytest.mark.parametrize(
    ("orders", "fused"),
    [
        ([[1, 2], []], [1, 2]),
        ([[], []], []),
        ([[1, 2, 3], [3, 1, 2]], [1, 3, 2]),
        ([[1], [2]], [1, 2]),
        ([[5, 1], [5, 2]], [5, 1, 2]),
    ],
)
def test_fused_by_rank(orders: list[list[int]], fused: list[int]) -> None:
    assert fuse(*orders) == fused
