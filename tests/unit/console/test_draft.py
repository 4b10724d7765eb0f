"""What of a running answer may be shown for good."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.console.draft import Draft, settled_length
from gateway.model.outbound import RichText
from gateway.text.markup import parse

ANSWER = """\
Intro with **bold** and `code`.

## Steps
Some words:

1. first

2. second

   still second

```py
a = 1

b = 2
```

After the code.

- a
- b

> quoted
> twice

The end."""


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("", ""),
        ("one", ""),
        ("one\n\n", ""),
        ("one\n\nt", "one\n\n"),
        ("one\ntwo\n\nthree", "one\ntwo\n\n"),
        ("- one\n\n- two", ""),
        ("- one\n\nafter", "- one\n\n"),
        ("- one\n\n  more", ""),
        ("```\na\n\nb", ""),
        ("```\na\n\nb\n```\n\nc", "```\na\n\nb\n```\n\n"),
        ("````\n```\n\nb\n````\n\nc", "````\n```\n\nb\n````\n\n"),
        ("~~~\n```\n\nb\n~~~\n\nc", "~~~\n```\n\nb\n~~~\n\n"),
        ("```\n``` not the end\n\nb", ""),
    ],
)
def test_what_later_text_cannot_change(text: str, settled: str) -> None:
    assert text[: settled_length(text)] == settled


def shown(draft: Draft, prefixes: list[str], final: RichText) -> list[str]:
    """Return the pieces that a screen prints, each followed by a newline."""
    pieces = [piece.text for prefix in prefixes if (piece := draft.advance(prefix))]
    return [*pieces, draft.rest(final).text]


@given(st.lists(st.integers(0, len(ANSWER))))
def test_an_answer_is_shown_once_however_it_streams(cuts: list[int]) -> None:
    pieces = shown(Draft("t"), [ANSWER[:cut] for cut in sorted(cuts)], parse(ANSWER))
    assert "\n".join(pieces) == parse(ANSWER).text


def test_streaming_shows_paragraphs_early() -> None:
    pieces = shown(Draft("t"), [ANSWER[:cut] for cut in range(len(ANSWER))], parse(ANSWER))
    assert pieces[0] == "Intro with bold and code."
    assert len(pieces) >= 4


@given(st.text("ab*`-#>1. \n", max_size=60), st.lists(st.integers(0, 60)))
def test_no_text_is_ever_lost(text: str, cuts: list[int]) -> None:
    final = parse(text)
    pieces = shown(Draft("t"), [text[:cut] for cut in sorted(cuts)], final)
    assert "\n".join(pieces).endswith(final.text)


def test_another_text_than_the_one_that_streamed_is_shown_in_full() -> None:
    draft = Draft("t")
    assert draft.advance("Old.\n\nMore") == RichText("Old.")
    assert draft.tail("Old.\n\nMore") == "More"
    assert draft.advance("New.\n\nMore\n\nYet more") is None
    assert draft.rest(RichText("New.")) == RichText("New.")
