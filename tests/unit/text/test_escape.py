"""Escaped text is shown letter by letter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.text.escape import escape
from gateway.text.markup import parse
from tests.unit.text.documents import NASTY, documents


@pytest.mark.parametrize(
    "text",
    [
        "**b** _i_ ~~s~~ `c`",
        "[t](https://e.org)",
        "![a](https://e.org)",
        "<https://e.org>",
        "&amp;",
        "# h",
        "> q",
        "- l",
        "+ l",
        "12. l",
        "3) l",
        "a\n---",
        "a\n===",
        "```\nx\n```",
        "~~~\nx",
        "a \\* b",
        "    code",
        "a  \nb",
        "|a|b|\n|-|-|",
        "plain words, nothing else!",
    ],
)
def test_marks_are_shown(text: str) -> None:
    rich = parse(escape(text))
    assert rich.text.split() == text.split()
    assert rich.spans == ()


@pytest.mark.parametrize("text", ["hello, world!", "a-b c.d 1.5", "C# (x) = y", "Что? Да — 5 + 6"])
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert escape(text) == text


@given(
    st.one_of(st.text(), documents(), st.sampled_from([markdown for _, markdown in NASTY[:21]]))
)
def test_any_text_is_shown_as_it_is(text: str) -> None:
    rich = parse(escape(text))
    assert rich.text.split() == text.replace("\0", "").split()
    assert rich.spans == ()
