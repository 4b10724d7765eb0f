"""What is shown while it is written is what is delivered."""

from __future__ import annotations

import pytest

from gateway.agent.transcript import Transcript


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        ([], ""),
        ([["Hello", " there", "."]], "Hello there."),
        ([["", " \n", "Hi"]], "Hi"),
        ([["Hi", " \n\n"]], "Hi"),
        ([["Let me see."], ["It is 2."]], "Let me see.\n\nIt is 2."),
        ([["First. "], [" ", "\u200b"], ["Last"]], "First.\n\nLast"),
        ([["\u200b"], [" \n"]], ""),
        ([["```", "\n", "```"]], ""),
        ([["```", "\n", "x = 1\n", "```"]], "```\nx = 1\n```"),
        ([["a", " ", "b"]], "a b"),
    ],
)
def test_pieces_joined_are_the_text(texts: list[list[str]], shown: str) -> None:
    pieces: list[str] = []
    transcript = Transcript(pieces.append)
    for text in texts:
        transcript.begin()
        for piece in text:
            transcript.add(piece)
    assert transcript.text == "".join(pieces) == shown
