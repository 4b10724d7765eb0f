"""mrkdwn: our markers and nothing else mean anything, and every word stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.slack.manifest import CAPABILITIES, LONGEST
from adapters.slack.render import render, size
from adapters.slack.words import readable
from gateway.model.outbound import RichText, Span, SpanKind
from gateway.text.markup import parse
from gateway.text.split import split
from tests.fakes.fuzzing import examples

ZWSP = "\u200b"


@pytest.mark.parametrize(
    ("markdown", "mrkdwn"),
    [
        ("**bold** and *it* ~~gone~~ `co<de>`", "*bold* and _it_ ~gone~ `co&lt;de&gt;`"),
        ("# Head", "*Head*"),
        ("**bold _both_ more**", "*bold _both_ more*"),
        ("***both***", "*_both_*"),
        ("x**y**z", f"x{ZWSP}*y*{ZWSP}z"),
        ("中**文**字", f"中{ZWSP}*文*{ZWSP}字"),
        ("**a\nb**", "*a*\n*b*"),
        ("[site](https://e.org/?a=1&b=2)", "<https://e.org/?a=1&amp;b=2|site>"),
        ("[a|b>](https://e.org/x|y)", "<https://e.org/x%7Cy|a|b&gt;>"),
        ("**[site](https://e.org)**", "*<https://e.org|site>*"),
        ("[x](tg://user?id=1)", "x"),
        ("``a`b``", "a`b"),
        ("> one **b**\n> two", "> one *b*\n> two"),
        (r"\> no quote", f"{ZWSP}&gt; no quote"),
        ("a & b < c > d", "a &amp; b &lt; c &gt; d"),
        ("```py\nif a < b:\n    c\n```", "```\nif a &lt; b:\n    c\n```"),
        ("````\n```\n````", f"```\n`{ZWSP}`{ZWSP}`\n```"),
        ("x\n```\na\n```\ny", "x\n\n```\na\n```\n\ny"),
    ],
)
def test_rendering(markdown: str, mrkdwn: str) -> None:
    assert render(parse(markdown)) == mrkdwn


@pytest.mark.parametrize(
    "words",
    ["<!channel>", "<!here>", "<@U0MIRA0001>", "<#C1|x>", "<!subteam^S1>", "&lt;!here&gt;"],
)
@pytest.mark.parametrize(
    "frame", ["{}", "`{}`", "```\n{}\n```", "**{}**", "[{}](https://e.org)", "> {}", "# {}"]
)
def test_no_word_is_a_mention(words: str, frame: str) -> None:
    """H-32: the words stay readable and ping nobody."""
    shown = render(parse(frame.replace("{}", words.replace("<", "\\<"))))
    shown_too = render(RichText(words, (Span(SpanKind.CODE, 0, len(words)),)))
    for text in (shown, shown_too):
        assert not re.search(r"<[@!#]", text)


def test_a_lone_surrogate_cannot_be_sent() -> None:
    assert render(RichText("a\ud800b")) == "a\ufffdb"


_WORDS = "word **a** * _ ~~ ` ``` > - # < > & [l](https://e.org/a|b) 😀 中文 <!here> | &lt; \u200b"
PIECE = st.sampled_from([*_WORDS.split(" "), " ", "\n", "\n\n", "**", "```\n"])


def visible(text: str) -> str:
    return re.sub(r"[\s*_~`\u200b>]+", "", text)


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(PIECE, max_size=40).map("".join))
@example("**a** **b**")
def test_no_word_is_lost_and_nothing_else_is_marked(markdown: str) -> None:
    rich = parse(markdown)
    shown = render(rich)
    assert shown.count("```") % 2 == 0
    assert set(re.findall(r"<([^|>]*)\|", shown)) <= {"https://e.org/a%7Cb"}
    assert not re.search(r"<(?!https://e\.org)", shown)
    bare = re.sub(r"<https://e\.org/a%7Cb\|([^>]*)>", r"\1", shown)
    assert visible(readable(bare)) == visible(rich.text)


SPANS = st.lists(
    st.builds(
        Span,
        st.sampled_from(list(SpanKind)),
        st.integers(0, 12),
        st.integers(0, 12),
        st.just("https://e.org"),
    ),
    max_size=6,
)


@settings(max_examples=examples(400), deadline=None)
@given(st.text(alphabet="ab <>&`*\n", max_size=12), SPANS)
def test_any_ranges_give_whole_text(text: str, spans: list[Span]) -> None:
    shown = render(RichText(text, tuple(spans)))
    bare = re.sub(r"<https://e\.org\|([^>]*)>", r"\1", shown)
    assert visible(readable(bare)) == visible(text)


@settings(max_examples=50, deadline=None)
@given(st.lists(PIECE, min_size=1, max_size=60).map("".join))
def test_parts_stay_editable(markdown: str) -> None:
    rich = parse(markdown * 80)
    for piece in split(rich, limit=LONGEST, size=size):
        assert len(render(piece).encode()) <= LONGEST


def test_size_is_what_slack_counts() -> None:
    assert CAPABILITIES.measure is size
    assert size(RichText("<😀>")) == len("&lt;😀&gt;".encode()) == 12
