"""Pieces that fit, cut where it hurts least, with nothing visible lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.model.outbound import RichText, Span, SpanKind
from gateway.text.clean import invisible
from gateway.text.markup import parse
from gateway.text.split import split
from gateway.text.units import utf16_length
from tests.fakes.fuzzing import examples
from tests.unit.text.documents import FAMILY, NASTY, documents

if TYPE_CHECKING:
    from collections.abc import Callable

    Size = Callable[[RichText], int]

FLAG = "\U0001f1e9\U0001f1ea"


def utf16(piece: RichText) -> int:
    return utf16_length(piece.text)


def points(piece: RichText) -> int:
    return len(piece.text)


def marked_up(piece: RichText) -> int:
    """Measure as a platform does whose markers and addresses count."""
    return len(piece.text) + sum(4 + len(span.value) for span in piece.spans)


def texts(text: str, limit: int, *spans: Span) -> list[str]:
    pieces = split(RichText(text, spans), limit=limit, size=utf16)
    return [piece.text for piece in pieces]


@pytest.mark.parametrize(
    ("text", "limit", "pieces"),
    [
        ("", 5, []),
        (" \n\u200b\n", 5, []),
        ("  short  ", 20, ["short"]),
        ("one two three\n\nfour five six\n\nx", 30, ["one two three\n\nfour five six", "x"]),
        ("one two three\nfour five six\nseven", 20, ["one two three", "four five six\nseven"]),
        ("One two. Three four. Five six.", 24, ["One two. Three four.", "Five six."]),
        ("是的。好的！那么再见。", 7, ["是的。好的！", "那么再见。"]),
        ("one two three four", 12, ["one two", "three four"]),
        ("a bbbbbbbbbb", 8, ["a", "bbbbbbbb", "bb"]),
        ("x" * 25, 10, ["x" * 10, "x" * 10, "x" * 5]),
        ("a" * 9 + "\U0001f600", 10, ["a" * 9, "\U0001f600"]),
        (FLAG * 5, 8, [FLAG * 2, FLAG * 2, FLAG]),
        (FAMILY * 3, 24, [FAMILY * 2, FAMILY]),
        ("e\u0301" * 3, 3, ["e\u0301"] * 3),
        (
            "1\ufe0f\u20e3" * 2 + "\U0001f44d\U0001f3fd",
            5,
            ["1\ufe0f\u20e3"] * 2 + ["\U0001f44d\U0001f3fd"],
        ),
        ("z" + "\u0301" * 9, 4, ["z" + "\u0301" * 3, "\u0301" * 4, "\u0301" * 2]),
        ("abcd", 4, ["abcd"]),
        ("abcd     \n\n  efgh", 4, ["abcd", "efgh"]),
        ("ab\u200b\u200b\u200b\u200b\u200b\u200bcd", 2, ["ab", "cd"]),
        ("\U0001f600\U0001f600", 1, ["\U0001f600", "\U0001f600"]),
    ],
)
def test_where_text_is_cut(text: str, limit: int, pieces: list[str]) -> None:
    """H-30."""
    assert texts(text, limit) == pieces


def test_code_keeps_its_indentation_and_its_language() -> None:
    """H-31."""
    rich = parse("Here:\n\n```py\n    if a:\n        b = 1\n\n\n        c = 2\n```\n\nDone.")
    pieces = split(rich, limit=14, size=utf16)
    assert [piece.text for piece in pieces] == [
        "Here:", "    if a:", "        b = 1", "        c = 2", "Done.",
    ]  # fmt: skip
    assert [[(span.kind, span.value, span.start) for span in piece.spans] for piece in pieces] == [
        [], *[[(SpanKind.PRE, "py", 0)]] * 3, [],
    ]  # fmt: skip


def test_empty_lines_and_sentences_in_code_are_no_places_to_cut() -> None:
    code = Span(SpanKind.PRE, 0, 36)
    assert texts("line one is here\n\nline. Two\nline three", 30, code) == [
        "line one is here\n\nline. Two",
        "line three",
    ]


def test_a_long_line_of_code_is_cut_between_its_words() -> None:
    code = Span(SpanKind.PRE, 0, 16)
    assert texts("  aaaa. bbb cccc", 10, code) == ["  aaaa.", "bbb cccc"]


def test_indentation_that_fills_a_piece_does_not_stop_the_rest() -> None:
    code = Span(SpanKind.PRE, 0, 31)
    assert texts(" " * 30 + "x", 10, code) == ["x"]


def test_ranges_end_at_a_cut_and_start_again() -> None:
    rich = RichText(
        "aaaa bbbb cccc",
        (
            Span(SpanKind.BOLD, 0, 14),
            Span(SpanKind.LINK, 2, 9, "https://e.org"),
            Span(SpanKind.ITALIC, 10, 10),
        ),
    )
    assert split(rich, limit=5, size=utf16) == [
        RichText("aaaa", (Span(SpanKind.BOLD, 0, 4), Span(SpanKind.LINK, 2, 4, "https://e.org"))),
        RichText("bbbb", (Span(SpanKind.BOLD, 0, 4), Span(SpanKind.LINK, 0, 4, "https://e.org"))),
        RichText("cccc", (Span(SpanKind.BOLD, 0, 4),)),
    ]


def test_a_piece_with_too_many_ranges_is_cut_earlier() -> None:
    rich = parse(" ".join(f"**w{number}**" for number in range(250)))
    pieces = split(rich, limit=4096, size=utf16, max_spans=100)
    assert [len(piece.spans) for piece in pieces] == [100, 100, 50]


def test_only_ranges_beyond_the_limit_over_one_character_are_dropped() -> None:
    rich = parse("**a *b ~~c~~ b* a**")
    kinds = [
        {span.kind for span in piece.spans}
        for piece in split(rich, limit=50, size=utf16, max_spans=2)
    ]
    assert kinds == [{SpanKind.BOLD, SpanKind.ITALIC}] * 2
    assert all(len(piece.spans) <= 1 for piece in split(rich, limit=50, size=utf16, max_spans=1))


def test_a_link_too_long_for_a_message_loses_its_address_only() -> None:
    """H-29."""
    rich = parse(f"[words of a link](https://example.org/{'y' * 4090}) and **more**")
    (piece,) = split(rich, limit=3000, size=marked_up)
    assert piece.text == rich.text
    assert [span.kind for span in piece.spans] == [SpanKind.BOLD]
    assert split(rich, limit=4096, size=utf16) == [rich]


def test_a_limit_too_small_for_any_range_still_sends_the_text() -> None:
    pieces = split(parse("**ab** cd"), limit=3, size=marked_up)
    assert [piece.text for piece in pieces] == ["a", "b", "cd"]
    assert not any(piece.spans for piece in pieces)


def test_a_size_that_grows_when_text_is_cut_is_still_kept() -> None:
    """A serializer may escape the last character only when nothing follows it."""

    def size(piece: RichText) -> int:
        return len(piece.text) + 5 * piece.text.endswith(".")

    pieces = split(RichText("aaa bbb. cc dd ee ff gg"), limit=10, size=size)
    assert all(size(piece) <= 10 for piece in pieces)
    assert " ".join(piece.text for piece in pieces) == "aaa bbb. cc dd ee ff gg"


@pytest.mark.parametrize(
    "text", ["!" * 4096, "1." * 3000, "a" * 4095 + "-" + "b" * 10, "\U0001f600" * 2100]
)
def test_text_that_grows_when_escaped_is_cut_by_its_escaped_size(text: str) -> None:
    """H-29."""

    def size(piece: RichText) -> int:
        return utf16_length(regex.sub(r"[!.\-]", r"\\\g<0>", piece.text))

    pieces = split(RichText(text), limit=4096, size=size)
    assert all(size(piece) <= 4096 for piece in pieces)
    assert "".join(piece.text for piece in pieces) == text


@pytest.mark.parametrize("size_and_limit", [(utf16, 4096), (points, 2000), (marked_up, 3000)])
@pytest.mark.parametrize("markdown", [text for _, text in NASTY], ids=[name for name, _ in NASTY])
def test_nasty_documents_are_well_formed(markdown: str, size_and_limit: tuple[Size, int]) -> None:
    size, limit = size_and_limit
    rich = parse(markdown)
    pieces = split(rich, limit=limit, size=size, max_spans=100)
    check_pieces(rich, pieces, limit)
    check_formatting(rich, pieces)
    assert all(size(piece) <= limit and len(piece.spans) <= 100 for piece in pieces)
    assert len(pieces) <= 2 + 2 * size(rich) // limit + len(rich.spans) // 100


@settings(max_examples=examples(500), deadline=None)
@given(documents(), st.integers(2, 60))
def test_any_document_is_cut_without_loss(markdown: str, limit: int) -> None:
    rich = parse(markdown)
    pieces = split(rich, limit=limit, size=utf16)
    check_pieces(rich, pieces, limit)
    check_formatting(rich, pieces)
    assert all(utf16(piece) <= limit for piece in pieces)


@settings(max_examples=examples(300), deadline=None)
@given(documents(), st.integers(1, 60), st.integers(1, 4))
def test_any_document_is_cut_to_any_measure(markdown: str, limit: int, max_spans: int) -> None:
    rich = parse(markdown)
    pieces = split(rich, limit=limit, size=marked_up, max_spans=max_spans)
    check_pieces(rich, pieces)
    assert all(marked_up(piece) <= limit for piece in pieces)
    assert all(len(piece.spans) <= max_spans for piece in pieces)


@settings(max_examples=examples(300), deadline=None)
@given(
    st.text(st.sampled_from("ab. \n\u0301\u200d\u200b\U0001f468\U0001f1e9。")), st.integers(1, 12)
)
def test_any_text_is_cut_without_loss(text: str, limit: int) -> None:
    check_pieces(RichText(text), split(RichText(text), limit=limit, size=points), limit)


def check_pieces(rich: RichText, pieces: list[RichText], limit: int = 0) -> None:
    """Check text and cuts; ``limit`` (UTF-16) says which clusters may be cut."""
    end = 0
    for piece, start in zip(pieces, places(rich, pieces), strict=True):
        assert not invisible(piece.text)
        assert piece.text == piece.text.rstrip()
        in_code = any(span.kind is SpanKind.PRE and span.start == 0 for span in piece.spans)
        assert limit == 0 or in_code or not piece.text[0].isspace()
        assert invisible(rich.text[end:start])
        if limit and end == start > 0:
            assert not cuts_a_cluster(rich.text, start, limit)
        end = start + len(piece.text)
    assert invisible(rich.text[end:])


def places(rich: RichText, pieces: list[RichText]) -> list[int]:
    """Return where each piece stands in the text."""
    found: list[int] = []
    end = 0
    for piece in pieces:
        end = rich.text.index(piece.text, end)
        found.append(end)
        end += len(piece.text)
    return found


def cuts_a_cluster(text: str, position: int, limit: int) -> bool:
    return any(
        cluster.start() < position < cluster.end() and utf16_length(cluster.group()) <= limit
        for cluster in regex.finditer(r"\X", text)
    )


def check_formatting(rich: RichText, pieces: list[RichText]) -> None:
    """Check that every visible character has the ranges that it had."""
    whole = cover(rich)
    for piece, start in zip(pieces, places(rich, pieces), strict=True):
        assert cover(piece) == whole[start : start + len(piece.text)]


def cover(rich: RichText) -> list[set[tuple[SpanKind, str]]]:
    covered: list[set[tuple[SpanKind, str]]] = [set() for _ in rich.text]
    for span in rich.spans:
        assert 0 <= span.start < span.end <= len(rich.text)
        for position in range(span.start, span.end):
            covered[position].add((span.kind, span.value))
    return covered
