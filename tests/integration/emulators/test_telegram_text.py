"""Texts without a server: TDLib's rules, and the simple ones where there is no TDLib."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.emulators.telegram import tdlib
from tests.emulators.telegram.errors import ApiError
from tests.emulators.telegram.text import read

KINDS = ["bold", "italic", "code", "pre", "blockquote", "spoiler"]
SAMPLE = "/start@gate_bot asks @gate_bot \U0001f600 about #tag at https://x.io/a or a@b.co"

needs_tdlib = pytest.mark.skipif(not tdlib.HAS_TDLIB, reason="no tdjson for this machine")


@needs_tdlib
@given(
    st.text(alphabet="ab *_`[](\U0001f600\n", max_size=30),
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 40), st.integers(0, 40))),
)
def test_what_is_stored_is_sound_or_refused(text: str, marked: list[tuple[str, int, int]]) -> None:
    entities = [
        {"type": kind, "offset": offset, "length": length} for kind, offset, length in marked
    ]
    try:
        stored = read(text, "", json.dumps(entities))
    except ApiError:
        return
    assert stored.text == stored.text.rstrip(" \n")
    assert stored.text in text
    for entity in stored.entities:
        assert entity["length"] > 0
        assert entity["offset"] + entity["length"] <= tdlib.utf16_length(stored.text)
    assert read(stored.text, "", json.dumps(stored.entities)) == stored


@needs_tdlib
def test_the_simple_rules_agree_with_tdlib_on_plain_cases(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = tdlib.detect(SAMPLE)
    monkeypatch.setattr(tdlib, "HAS_TDLIB", False)
    assert tdlib.detect(SAMPLE) == exact
    assert len(exact) == 5


def test_without_tdlib_entities_pass_and_parse_mode_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tdlib, "HAS_TDLIB", False)
    bold = {"type": "bold", "offset": 0, "length": 2}
    assert read("hi @gate_bot", "", json.dumps([bold])).entities == [
        bold,
        {"type": "mention", "offset": 3, "length": 9},
    ]
    with pytest.raises(ApiError, match="needs the package tdjson"):
        read("<b>hi</b>", "HTML", "")
