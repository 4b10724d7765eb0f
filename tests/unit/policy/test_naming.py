"""Names the memory service accepts, and never two as one (H-06, H-27)."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy import naming

LEGAL = re.compile(r"^[A-Za-z0-9_-]{1,100}\Z")
TEXTS = st.text(st.characters(), min_size=1, max_size=150) | st.text(
    "aZ0_-.: é", min_size=1, max_size=110
)


def take(original: str, count: int) -> list[str]:
    return list(itertools.islice(naming.candidates(original), count))


class Names:
    """What a store keeps: name → original."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}

    def assign(self, original: str) -> str:
        name = naming.assign(original, self.held.get)
        self.held[name] = original
        return name


@pytest.mark.parametrize("text", ["mira", "700100200", "a-b", "_", "x" * 100])
def test_a_short_legal_text_is_its_own_name(text: str) -> None:
    assert take(text, 1) == [text]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a:b", "a-b-6783a31e"),
        ("a.b", "a-b-2e7336dc"),
        ("a b", "a-b-c8687a08"),
        ("Zoë", "Zo--c6a12698"),
        ("x" * 101, "x" * 91 + "-c675a2e6"),
    ],
)
def test_a_changed_text_gets_a_hash_of_the_original(text: str, name: str) -> None:
    assert take(text, 1) == [name]


def test_hashes_grow_while_a_name_is_taken() -> None:
    lengths = [len(name.rpartition("-")[2]) for name in take("a b", 6)]
    assert lengths == [8, 16, 32, 64, 64, 64]
    assert len(set(take("a b", 50))) == 50


@pytest.mark.parametrize(
    "pair",
    [
        ("U" + "0" * 70 + "1", "U" + "0" * 70 + "2"),
        ("é" * 20, "è" * 20),
        ("\ud83d", "\ud83e"),
        ("Zoe\u0308", "Zoë"),
    ],
)
def test_texts_that_look_alike_after_cutting_or_cleaning_differ(pair: tuple[str, str]) -> None:
    prefix = "slack_acme-holding-international-production_"
    first, second = (take(prefix + text, 1)[0] for text in pair)
    assert first != second
    assert LEGAL.match(first)
    assert LEGAL.match(second)


@given(TEXTS)
def test_every_candidate_is_legal_and_repeatable(original: str) -> None:
    names = take(original, 7)
    assert all(LEGAL.match(name) for name in names)
    assert names == take(original, 7)


@given(st.data())
def test_two_originals_never_share_a_name(data: st.DataObject) -> None:
    """Any Unicode, any order, restarts, and originals that imitate others' names."""
    originals = data.draw(st.lists(TEXTS, min_size=1, max_size=8, unique=True))
    imitations = [name for original in originals for name in take(original, 6)]
    everyone = data.draw(st.permutations(sorted({*originals, *imitations})))
    names = Names()
    first = {original: names.assign(original) for original in everyone}
    assert len(set(first.values())) == len(first)
    assert all(LEGAL.match(name) for name in first.values())
    again = data.draw(st.permutations(everyone))
    assert {original: names.assign(original) for original in again} == first


def test_an_empty_text_has_no_name() -> None:
    with pytest.raises(ValueError, match="empty"):
        naming.candidates("")


def test_names_do_not_depend_on_the_hash_seed() -> None:
    code = "from gateway.policy import naming; print(next(naming.candidates('a b')))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert seen == {take("a b", 1)[0] + "\n"}
