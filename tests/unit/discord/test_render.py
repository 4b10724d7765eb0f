"""Markdown: every visible word stands, every mark is ours, no message is too long."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord.manifest import CAPABILITIES
from adapters.discord.render import render, size
from gateway.model.outbound import RichText, Span, SpanKind
from gateway.text.markup import parse
from gateway.text.split import split
from tests.fakes.fuzzing import examples
from tests.unit.discord.markdown import shown
from tests.unit.text.documents import NASTY, documents

BOLD, ITALIC, STRIKE, CODE = SpanKind.BOLD, SpanKind.ITALIC, SpanKind.STRIKE, SpanKind.CODE
PRE, LINK, QUOTE, HEADING = SpanKind.PRE, SpanKind.LINK, SpanKind.QUOTE, SpanKind.HEADING
URL = "https://example.org/x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words", "plain words"),
        ("snake_case *x* ~y~ `z` |s|", r"snake\_case \*x\* \~y\~ \`z\` \|s\|"),
        ("a < b > c", r"a \< b > c"),
        ("# no heading\n## nor here\n#tag", "\\# no heading\n\\## nor here\n#tag"),
        ("> no quote\n>>> nor here", "\\> no quote\n\\>>> nor here"),
        ("-# small", r"\-# small"),
        ("- no list\n  - nor here", "\\- no list\n  \\- nor here"),
        ("1. first\n2.5 is no item", "1\\. first\n2.5 is no item"),
        ("[x](https://e.org)", r"\[x\](<https://e.org>)"),
        ("see https://e.org/a_b*c_.", "see <https://e.org/a_b*c_>."),
        ("https://e.org/?b=2>0", "<https://e.org/?b=2>>0"),
        (r"back\slash", r"back\\slash"),
        ("<@42> <@&7> @everyone", r"\<@42> \<@&7> @everyone"),
        ("ok \ud83d", "ok \ufffd"),
    ],
)
def test_words_stay_words(text: str, expected: str) -> None:
    assert render(RichText(text)) == expected


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (BOLD, "", "say **hello** x"),
        (ITALIC, "", "say _hello_ x"),
        (STRIKE, "", "say ~~hello~~ x"),
        (CODE, "", "say `hello` x"),
        (LINK, URL, f"say [hello](<{URL}>) x"),
        (LINK, "https://e.org/a b>(c)", "say [hello](<https://e.org/a%20b%3E(c)>) x"),
        (LINK, "mailto:a_b@e.org", r"say hello (mailto:a\_b@e.org) x"),
        (HEADING, "1", "say hello x"),
    ],
)
def test_each_kind(kind: SpanKind, value: str, expected: str) -> None:
    assert render(RichText("say hello x", (Span(kind, 4, 9, value),))) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# One\n\nx", "# One\nx"),
        ("#### Four", "### Four"),
        ("> q\n> r", "> q\n> r"),
        ("> ```py\n> x = 1\n> ```\n\nafter", "> ```py\n> x = 1\n> ```\n\nafter"),
        ("```python\nx = '*'\n```", "```python\nx = '*'\n```"),
        ("```\nplain\n```", "```\nplain\n```"),
        ("````\n```\ninner\n```\n````", "```\n`\u200b``\ninner\n`\u200b``\n```"),
        ("``a`b``", "``a`b``"),
        ("`` `a` ``", "`` `a` ``"),
        ("***both***", "**_both_**"),
        ("**a _b_ c**", "**a _b_ c**"),
        ("in*tra*word", "in*tra*word"),
        ("<https://e.org/a_b>**x**", "<https://e.org/a_b>**x**"),
        ("[**b**](https://e.org)", "[**b**](<https://e.org>)"),
        ("[https://good.org](https://evil.org)", "<https://good.org> (<https://evil.org>)"),
    ],
)
def test_documents(markdown: str, expected: str) -> None:
    assert render(parse(markdown)) == expected


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ((Span(BOLD, 0, 6),), "**hello** world"),
        ((Span(BOLD, 5, 11),), "hello **world**"),
        ((Span(BOLD, 5, 6),), "hello world"),
        ((Span(BOLD, 0, 5), Span(BOLD, 5, 11)), "**hello world**"),
        ((Span(BOLD, 0, 11), Span(PRE, 3, 5)), "**hel**```\nlo\n``` **world**"),
        ((Span(CODE, 0, 11), Span(BOLD, 3, 5)), "`hello world`"),
        ((Span(BOLD, 4, 4), Span(BOLD, 25, 30)), "hello world"),
        ((Span(CODE, 0, 2), Span(CODE, 2, 5)), "`hello` world"),
        ((Span(PRE, 0, 2), Span(PRE, 2, 5)), "```\nhe\n```\n```\nllo\n``` world"),
        ((Span(CODE, 0, 2), Span(PRE, 2, 5)), "`he`\n```\nllo\n``` world"),
        ((Span(QUOTE, 0, 2), Span(PRE, 0, 5)), "> ```\n> he\n> ```\n```\nllo\n``` world"),
        ((Span(QUOTE, 0, 5),), "> hello\n world"),
    ],
)
def test_marks_stand_where_they_work(spans: tuple[Span, ...], expected: str) -> None:
    assert render(RichText("hello world", spans)) == expected


def words(text: str) -> str:
    return re.sub(r"[\s\u200b]+", "", text)


@given(text=st.text(alphabet="ab1 *_~`|<>[]()\\#-.\n😀", max_size=40))
@settings(max_examples=examples(500))
def test_any_text_is_shown_as_it_is(text: str) -> None:
    assert words(shown(render(RichText(text)))) == words(text)


SPANS = st.builds(
    lambda kind, start, length: Span(
        kind, start, start + length, {LINK: URL, PRE: "py", HEADING: "2"}.get(kind, "")
    ),
    st.sampled_from(SpanKind),
    st.integers(0, 24),
    st.integers(0, 24),
)


@given(given=st.lists(SPANS, max_size=8), text=st.text(alphabet="ab 😀é\n", max_size=24))
@settings(max_examples=examples(500))
def test_any_ranges_leave_the_words(given: list[Span], text: str) -> None:
    assert words(shown(render(RichText(text, tuple(given))))) == words(text)


def pieces(markdown: str) -> list[RichText]:
    return split(parse(markdown), limit=CAPABILITIES.max_length, size=size)


@given(document=documents())
@settings(max_examples=examples(200))
def test_documents_lose_no_word(document: str) -> None:
    rich = parse(document)
    assert words("".join(shown(render(each)) for each in pieces(document))) == words(rich.text)


@pytest.mark.parametrize("name", [name for name, _ in NASTY])
def test_nasty_documents(name: str) -> None:
    """H-30: the limit holds for what is sent, marks and escapes included."""
    document = dict(NASTY)[name]
    found = pieces(document)
    assert found
    assert all(len(render(each)) <= 2000 for each in found)


@pytest.mark.parametrize(
    "document",
    [
        "😀" * 5000,
        "```py\n" + "\n".join(f"line_{n} = '*'" for n in range(400)) + "\n```",
        "_*`" * 2000,
        "**" + "word " * 1500 + "**",
    ],
)
def test_long_answers_are_cut_where_they_fit(document: str) -> None:
    """H-30, H-31."""
    found = [render(each) for each in pieces(document)]
    assert all(len(each) <= 2000 for each in found)
    if document.startswith("```"):
        assert all(each.startswith("```py\n") and each.endswith("\n```") for each in found)
