"""Answers as Markdown for a pipe and as styled lines for a terminal."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.console.render import cut, neutralised, plain
from adapters.console.style import styled
from gateway.model.outbound import RichText, Span, SpanKind
from gateway.text.markup import parse

_STYLE = re.compile(r"\x1b\[[\d;]*m")

WRITTEN = [
    "Hello.",
    "Two  spaces, *one* star, **two** stars and ~~none~~.",
    "***both*** and **bold with `code` in it**",
    "Run `make` first.",
    "# Title\nText.",
    "### Deep\nText.",
    "> said\n> twice\n\nanswered",
    "```py\nprint(1)\n\nprint(2)\n```",
    "```\nno language\n```\n\nafter",
    "[words](https://example.org/a?b=c)",
    "https://example.org stands bare",
    "1. one\n2. two",
    "a < b && c > d # not a title",
    "Привет, **мир**! 👋🏽",
]


@pytest.mark.parametrize("markdown", WRITTEN)
def test_a_pipe_gets_what_the_model_wrote(markdown: str) -> None:
    assert plain(parse(markdown)) == markdown


def test_a_fence_is_closed_on_its_own_line() -> None:
    content = RichText("a\nb\nc", (Span(SpanKind.PRE, 0, 2, "sh"), Span(SpanKind.BOLD, 2, 3)))
    assert plain(content) == "```sh\na\n```**b**\nc"


@given(st.text())
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert plain(RichText(text)) == text


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_terminal_gets_weight_and_colour() -> None:
    shown = styled(parse("**b** `c`\n\n# t"), 40)
    assert shown == "\x1b[1mb\x1b[0m \x1b[36mc\x1b[0m\n\n\x1b[1mt\x1b[0m\n"


def test_no_color_leaves_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert styled(parse("**b** `c`"), 40) == "\x1b[1mb\x1b[0m c\n"


def test_a_dumb_terminal_gets_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert styled(parse("**b** [l](http://x.y/z)"), 40) == "b l (http://x.y/z)\n"


def test_text_is_wrapped_at_words_and_code_is_not() -> None:
    shown = styled(parse("one two three\n\n```\none two three\n```"), 8)
    lines = [line.rstrip() for line in _STYLE.sub("", shown).splitlines()]
    assert lines == ["one two", "three", "", "one two three"]


def test_square_brackets_are_no_markup() -> None:
    assert styled(RichText("[bold]x[/bold] :smile:"), 40) == "[bold]x[/bold] :smile:\n"


def test_a_link_shows_where_it_leads_even_if_it_would_rather_not() -> None:
    content = RichText("bank", (Span(SpanKind.LINK, 0, 4, "http://e\x1b]8;;x\u202e"),))
    assert _STYLE.sub("", styled(content, 40)) == "bank (http://e␛]8;;x\ufffd)\n"


@given(st.text())
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    safe = neutralised(text)
    assert len(safe) == len(text)
    controls = {char for char in safe if unicodedata.category(char) == "Cc"}
    assert controls <= {"\n", "\t"}
    assert not {unicodedata.bidirectional(char) for char in safe} & {
        "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI",
    }  # fmt: skip


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_styled_text_holds_no_code_but_styles(text: str) -> None:
    assert "\x1b" not in _STYLE.sub("", styled(parse(text), 40))


@given(st.integers(0, 12))
def test_a_cut_keeps_ranges_on_their_words(start: int) -> None:
    content = parse("ab **cd** `ef` _gh_")
    rest = cut(content, start)
    assert rest.text == content.text[start:]
    assert [rest.text[span.start : span.end] for span in rest.spans] == [
        content.text[max(start, span.start) : span.end]
        for span in content.spans
        if span.end > start
    ]
