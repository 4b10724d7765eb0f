"""Long messages in numbered parts: nothing lost, nothing too long, no character cut."""

from __future__ import annotations

import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from gateway.text.chunk import LEAST, chunks
from gateway.text.marks import break_up

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
WORDS = ["a", "word ", "\n", "\n\n", ". ", "。", "\r\n", " " * 9, "x" * 40]
PIECES = st.sampled_from([*WORDS, "é", "e\u0301", "😀", "🇦🇹", FAMILY])
TEXTS = st.lists(PIECES, max_size=120).map("".join) | st.text(max_size=200)


@given(TEXTS, st.integers(LEAST, 120))
def test_nothing_is_lost_and_nothing_too_long(text: str, limit: int) -> None:
    found = chunks(text, limit)
    assert "".join(part.body for part in found) == text
    assert all(len(part.text) <= limit for part in found)
    assert all(part.body for part in found) or text == ""


@given(TEXTS, st.integers(40, 120))
def test_no_character_is_cut_that_fits(text: str, limit: int) -> None:
    found = chunks(text, limit)
    ends = {match.end() for match in regex.finditer(r"\X", text)}
    longest = max((len(match.group()) for match in regex.finditer(r"\X", text)), default=0)
    position = 0
    for part in found[:-1]:
        position += len(part.body)
        if longest <= 20:
            assert position in ends, "cut inside a character"


@given(TEXTS, st.integers(LEAST, 120))
def test_parts_are_numbered(text: str, limit: int) -> None:
    found = chunks(text, limit)
    if len(found) == 1:
        assert found[0].marker == ""
        return
    numbers = [regex.match(r"\[(\d+)", part.marker)[1] for part in found]  # type: ignore[index]
    assert numbers == [str(number) for number in range(1, len(found) + 1)]


@pytest.mark.parametrize(
    ("text", "limit", "bodies"),
    [
        ("short", 16, ["short"]),
        ("", 16, [""]),
        ("x" * 16, 16, ["x" * 16]),
        ("first paragraph\n\nsecond one", 26, ["first paragraph\n\n", "second one"]),
        ("a first line\na second", 20, ["a first line\n", "a second"]),
        ("One is said. Two is too long", 26, ["One is said. ", "Two is too long"]),
        ("one two three four five", 22, ["one two three ", "four five"]),
        (
            "今天真的很好。明天也很好，后天更好了",
            16,
            ["今天真的很好。", "明天也很好，后天更好", "了"],
        ),
    ],
)
def test_where_it_is_cut(text: str, limit: int, bodies: list[str]) -> None:
    assert [part.body for part in chunks(text, limit)] == bodies


def test_what_the_parts_look_like() -> None:
    assert [part.text for part in chunks("one two three four five", 22)] == [
        "[1/2] one two three ",
        "[2/2] four five",
    ]


def test_very_many_parts_keep_their_numbers() -> None:
    found = chunks("x" * 5_000, LEAST)
    assert found[-1].marker == f"[{len(found)}] "


def test_a_letter_with_a_thousand_marks_ends_too() -> None:
    text = "e" + "\u0301" * 1_000
    assert "".join(part.body for part in chunks(text, LEAST)) == text
    assert unicodedata.combining(text[1])


def test_a_limit_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least"):
        chunks("x" * 20, LEAST - 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<|endoftext|>", "<|\u200bendoftext|>"),
        ("a <|im_start|> b <|im_end|>", "a <|\u200bim_start|> b <|\u200bim_end|>"),
        ("x <| y", "x <| y"),
        ("a |> b <|", "a |> b <|"),
        ("f <|> g", "f <|> g"),
    ],
)
def test_marks_are_broken_up(text: str, expected: str) -> None:
    assert break_up(text) == expected
    assert break_up(expected) == expected


@given(TEXTS, st.integers(LEAST, 60))
def test_a_part_grows_no_more_when_its_marks_are_broken_up_again(text: str, limit: int) -> None:
    broken = break_up(text.replace(". ", "<|endoftext|>"))
    assert all(break_up(part.text) == part.text for part in chunks(broken, limit))
