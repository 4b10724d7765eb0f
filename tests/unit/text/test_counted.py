"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from gateway.text.counted import counted, plural, singular


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "message", "0 messages"),
        (1, "message", "1 message"),
        (2, "shared session", "2 shared sessions"),
        (1, "entry", "1 entry"),
        (3, "entry", "3 entries"),
        (2, "key", "2 keys"),
        (2, "person", "2 people"),
        (12_345, "row", "12,345 rows"),
    ],
)
def test_counted(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text


def test_a_plural_of_its_own() -> None:
    assert counted(2, "link or token", "links and tokens") == "2 links and tokens"


@pytest.mark.parametrize("noun", ["account", "mailbox item", "entry", "person", "key"])
def test_singular_is_the_way_back(noun: str) -> None:
    assert singular(plural(noun)) == noun
