"""Entities: offsets in UTF-16, Telegram's nesting rules, judged by Telegram's own code."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.telegram.manifest import CAPABILITIES
from adapters.telegram.render import render
from gateway.model.outbound import RichText, Span, SpanKind
from gateway.text.markup import parse
from gateway.text.split import split
from gateway.text.units import utf16_length
from tests.emulators.telegram import tdlib
from tests.fakes.fuzzing import examples
from tests.unit.text.documents import NASTY, documents

BOLD, ITALIC, STRIKE, CODE = SpanKind.BOLD, SpanKind.ITALIC, SpanKind.STRIKE, SpanKind.CODE
PRE, LINK, QUOTE, HEADING = SpanKind.PRE, SpanKind.LINK, SpanKind.QUOTE, SpanKind.HEADING
URL = "https://example.org/x"

Shape = tuple[str, int, int]


def shapes(rich: RichText) -> list[Shape]:
    return [(str(item.type), item.offset, item.length) for item in render(rich)[1]]


def spans(*given: tuple[SpanKind, int, int]) -> RichText:
    """Ten letters, then ten more, with spans; links lead somewhere."""
    return RichText(
        "abcdefghijklmnopqrst",
        tuple(Span(kind, start, end, URL if kind is LINK else "") for kind, start, end in given),
    )


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (BOLD, "", {"type": "bold"}),
        (HEADING, "2", {"type": "bold"}),
        (ITALIC, "", {"type": "italic"}),
        (STRIKE, "", {"type": "strikethrough"}),
        (CODE, "", {"type": "code"}),
        (PRE, "", {"type": "pre"}),
        (PRE, "python", {"type": "pre", "language": "python"}),
        (LINK, URL, {"type": "text_link", "url": URL}),
        (QUOTE, "", {"type": "blockquote"}),
    ],
)
def test_each_kind(kind: SpanKind, value: str, expected: dict[str, str]) -> None:
    text, entities = render(RichText("say hello", (Span(kind, 4, 9, value),)))
    assert text == "say hello"
    assert [item.to_dict() for item in entities] == [{**expected, "offset": 4, "length": 5}]


def test_offsets_are_in_utf16_units() -> None:
    """H-30."""
    family = "👨‍👩‍👧"
    text = f"😀 {family} bold"
    start = len(text) - 4
    assert shapes(RichText(text, (Span(BOLD, start, len(text)),))) == [("bold", 12, 4)]


@pytest.mark.parametrize(
    ("rich", "expected"),
    [
        (spans((BOLD, 0, 4), (BOLD, 2, 6)), [("bold", 0, 6)]),
        (spans((HEADING, 0, 9), (BOLD, 2, 4)), [("bold", 0, 9)]),
        (spans((BOLD, 0, 9), (CODE, 3, 5)), [("bold", 0, 3), ("code", 3, 2), ("bold", 5, 4)]),
        (spans((BOLD, 3, 5), (CODE, 0, 9)), [("code", 0, 9)]),
        (spans((PRE, 0, 9), (LINK, 3, 5)), [("pre", 0, 9)]),
        (spans((LINK, 0, 9), (CODE, 3, 5)), [("text_link", 0, 9)]),
        (spans((LINK, 0, 9), (BOLD, 3, 5)), [("text_link", 0, 9), ("bold", 3, 2)]),
        (spans((QUOTE, 0, 9), (QUOTE, 3, 5)), [("blockquote", 0, 9)]),
        (spans((QUOTE, 0, 4), (QUOTE, 4, 8)), [("blockquote", 0, 4), ("blockquote", 4, 4)]),
        (spans((QUOTE, 0, 9), (PRE, 3, 5)), [("blockquote", 0, 9), ("pre", 3, 2)]),
        (
            spans((BOLD, 0, 5), (ITALIC, 3, 8)),
            [("bold", 0, 5), ("italic", 3, 2), ("italic", 5, 3)],
        ),
        (spans((BOLD, 4, 4), (BOLD, 25, 30), (BOLD, 7, 3)), []),
        (spans((BOLD, 15, 90)), [("bold", 15, 5)]),
    ],
)
def test_what_telegram_cannot_nest_is_cut(rich: RichText, expected: list[Shape]) -> None:
    assert shapes(rich) == expected


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://example.org/a_(b)?c=1#d", True),
        ("HTTP://EXAMPLE.ORG:8080", True),
        ("https://me@example.org/", True),
        ("http://127.0.0.1/x", True),
        ("http://[::1]/", False),
        ("https://пример.рф/п", True),
        ("http://localhost:8080/", False),
        ("https://example.org:99999/", False),
        ("https://example.org:/", False),
        ("https://exa mple.org/", False),
        ("https://example.org/\n", False),
        ("mailto:ann@example.org", False),
        ("tel:+123", False),
        ("javascript:alert(1)", False),
        ("tg://user?id=42", False),
        ("TG:user?id=42", False),
        ("src/x.py", False),
        ("", False),
    ],
)
def test_only_addresses_that_telegram_takes_are_links(address: str, kept: bool) -> None:
    rich = RichText("a link", (Span(LINK, 2, 6, address),))
    assert [shape[0] for shape in shapes(rich)] == (["text_link"] if kept else [])


def test_a_lone_surrogate_is_replaced() -> None:
    """H-51."""
    assert render(RichText("ok \ud83d"))[0] == "ok \ufffd"


# --- judged by TDLib, which is what the Bot API server runs -------------------------------------

judged = pytest.mark.skipif(not tdlib.HAS_TDLIB, reason="needs the package tdjson")


def coverage(entities: list[dict[str, object]]) -> dict[int, set[str]]:
    """Return for each UTF-16 unit how it looks."""
    looks: dict[int, set[str]] = {}
    for item in entities:
        start, length = int(str(item["offset"])), int(str(item["length"]))
        look = f"{item['type']} {item.get('language', '')} {bool(item.get('url'))}"
        for unit in range(start, start + length):
            looks.setdefault(unit, set()).add(look)
    return looks


def judge(rich: RichText) -> None:
    """Assert that Telegram takes the message and shows every character as we meant it."""
    text, entities = render(rich)
    ours: list[dict[str, object]] = [item.to_dict() for item in entities]
    stored, kept = tdlib.fix(text, ours)
    if stored == text:
        assert coverage(kept) == coverage(ours)


@judged
@given(document=documents())
@settings(max_examples=examples(300))
def test_telegram_keeps_any_document_as_rendered(document: str) -> None:
    for piece in split(
        parse(document),
        limit=CAPABILITIES.max_length,
        size=lambda rich: utf16_length(rich.text),
        max_spans=CAPABILITIES.max_spans,
    ):
        judge(piece)


@judged
@pytest.mark.parametrize("name", [name for name, _ in NASTY])
def test_telegram_keeps_nasty_documents_as_rendered(name: str) -> None:
    """H-29, H-30, H-31: cut after formatting, every piece within the limit and accepted."""
    rich = parse(dict(NASTY)[name])
    pieces = split(rich, limit=4096, size=lambda rich: utf16_length(rich.text), max_spans=100)
    assert pieces
    for piece in pieces:
        judge(piece)
        assert utf16_length(render(piece)[0]) <= 4096


SPANS = st.builds(
    lambda kind, start, length: Span(
        kind, start, start + length, {LINK: URL, PRE: "py"}.get(kind, "")
    ),
    st.sampled_from(SpanKind),
    st.integers(0, 24),
    st.integers(0, 24),
)


@judged
@given(given=st.lists(SPANS, max_size=8), text=st.text(alphabet="ab 😀é\n", max_size=24))
@settings(max_examples=examples(500))
def test_telegram_keeps_any_ranges_as_rendered(given: list[Span], text: str) -> None:
    judge(RichText(text, tuple(given)))


@judged
@given(host=st.text(alphabet="aZ0-_.%é:@[]/?# \\", max_size=14), tail=st.text(max_size=6))
@settings(max_examples=examples(500))
def test_telegram_takes_every_link_that_is_rendered(host: str, tail: str) -> None:
    judge(RichText("a link", (Span(LINK, 2, 6, f"https://{host}{tail}"),)))
