"""Odd updates: one clear error that quotes nothing, and no other exception."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.telegram.parse import parse
from gateway.text.fields import ParseError
from tests.fakes.fuzzing import examples
from tests.unit.telegram.updates import ANN, DIRECT, ME, WHEN, message, recorded

UPDATES = recorded()
SECRET = "private words"


@pytest.mark.parametrize(
    ("update", "place"),
    [
        ([], "update: expected an object, got list"),
        ("text", "update: expected an object, got str"),
        ({}, "holds nothing"),
        ({"update_id": 1}, "holds nothing"),
        ({"update_id": 1, "poll": {"question": SECRET}}, "update.poll: an update of no chat"),
        ({"message": SECRET}, "update.message: expected an object, got str"),
        ({"message": message(message_id=None, text=SECRET)}, "update.message.message_id"),
        ({"message": message(message_id=True, text=SECRET)}, "message_id: expected a whole"),
        ({"message": message(date=None, text=SECRET)}, "update.message.date"),
        ({"message": message(date=10**20, text=SECRET)}, "update.message.date: expected a date"),
        ({"message": message({**DIRECT, "id": "42"})}, "update.message.chat.id"),
        ({"message": message({**DIRECT, "type": SECRET})}, "update.message.chat.type"),
        ({"message": {"message_id": 1, "date": WHEN}}, "update.message.chat: missing"),
        ({"message": message(**{"from": {**ANN, "id": 4.2}})}, "update.message.from.id"),
        ({"message": message(text=["x"])}, "update.message.text: expected a text, got list"),
        ({"message": message(text="x", entities=SECRET)}, "entities: expected a list, got str"),
        ({"message": message(text="x", entities=[SECRET])}, "entities[0]: expected an object"),
        ({"message": message(text="x", is_topic_message="no")}, "is_topic_message"),
        ({"my_chat_member": {"chat": DIRECT, "date": WHEN}}, "update.update_id"),
    ],
)
def test_the_error_names_the_place_and_quotes_nothing(update: object, place: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(update, me=ME)
    assert place in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("name", UPDATES)
def test_unknown_fields_and_nulls_change_nothing(name: str) -> None:
    def grown(value: Any) -> Any:
        if isinstance(value, list):
            return [grown(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {**{k: grown(v) for k, v in value.items()}, "zz_new": {"a": [1]}, "title2": None}

    plain, changed = parse(UPDATES[name], me=ME), parse(grown(UPDATES[name]), me=ME)
    assert changed.place == plain.place
    assert (changed.kind, changed.text, changed.sender) == (plain.kind, plain.text, plain.sender)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def replaced(value: Any, path: list[int], new: object) -> Any:
    """Return ``value`` with the node that ``path`` leads to replaced by ``new``."""
    if not path or not isinstance(value, dict | list) or not value:
        return new
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[path[0] % len(keys)]
    copy = value.copy()
    copy[key] = replaced(value[key], path[1:], new)
    return copy


@given(
    name=st.sampled_from(sorted(UPDATES)),
    path=st.lists(st.integers(0, 30), min_size=1, max_size=6),
    new=JSON,
)
@settings(max_examples=examples(600))
def test_a_broken_update_is_parsed_or_refused(name: str, path: list[int], new: object) -> None:
    update = replaced(UPDATES[name], path, new)
    with contextlib.suppress(ParseError):
        assert json.loads(parse(update, me=ME).dedupe_key)[:2] == ["telegram", "123456"]
