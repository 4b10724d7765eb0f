"""Odd events: one clear error that quotes nothing, and no other exception."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord.directory import Directory
from adapters.discord.parse import parse
from gateway.text.fields import ParseError
from tests.fakes.fuzzing import examples
from tests.unit.discord.events import ANN, ME, WHEN, around, message, recorded

EVENTS = recorded()
SECRET = "private words"


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ([], "MESSAGE_CREATE: expected an object, got list"),
        (None, "MESSAGE_CREATE: expected an object, got NoneType"),
        (message(SECRET, id=None), "MESSAGE_CREATE.id: expected an id"),
        (message(SECRET, id=1.5), "MESSAGE_CREATE.id: expected an id of digits, got float"),
        (message(SECRET, id="12e3"), "MESSAGE_CREATE.id"),
        (message(SECRET, id=True), "MESSAGE_CREATE.id"),
        (message(SECRET, id="١٢"), "MESSAGE_CREATE.id"),
        (message(SECRET, channel_id=SECRET), "MESSAGE_CREATE.channel_id"),
        (message(SECRET, timestamp="yesterday"), "MESSAGE_CREATE.timestamp: expected a time"),
        (message(SECRET, timestamp=WHEN[:19]), "timestamp: expected a time with its zone"),
        (message(SECRET, author=SECRET), "MESSAGE_CREATE.author: expected an object, got str"),
        (message(SECRET, author=ANN | {"bot": "yes"}), "author.bot: expected true or false"),
        (message(SECRET, type=SECRET), "MESSAGE_CREATE.type: expected a whole number"),
        (message(7), "MESSAGE_CREATE.content: expected a text, got int"),
        (message(SECRET, mentions={}), "MESSAGE_CREATE.mentions: expected a list, got dict"),
        (message(SECRET, mentions=[SECRET]), "MESSAGE_CREATE.mentions[0]: expected an object"),
        (message(SECRET, attachments=[{}]), "MESSAGE_CREATE.attachments[0].id"),
    ],
)
def test_the_place_of_the_fault_is_named(data: Any, place: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse("MESSAGE_CREATE", data, around())
    assert place in str(caught.value)
    assert SECRET not in str(caught.value)


def test_an_id_beyond_all_time() -> None:
    gone = {"id": "9" * 60, "channel_id": "842"}
    with pytest.raises(ParseError, match=r"MESSAGE_DELETE\.id"):
        parse("MESSAGE_DELETE", gone, around())


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.just({}),
    st.just([]),
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where something stands in a JSON value."""
    if isinstance(value, dict):
        inner = [found for key, each in value.items() for found in paths(each, (*path, key))]
    elif isinstance(value, list):
        inner = [found for key, each in enumerate(value) for found in paths(each, (*path, key))]
    else:
        inner = []
    return [*inner, *([path] if path else [])]


@given(data=st.data())
@settings(max_examples=examples(400))
def test_any_field_may_be_odd(data: st.DataObject) -> None:
    event = copy.deepcopy(EVENTS[data.draw(st.sampled_from(sorted(EVENTS)))])
    path = data.draw(st.sampled_from(paths(event["d"])))
    holder = event["d"]
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = data.draw(ODD)
    with contextlib.suppress(ParseError):
        parse(event["t"], event["d"], around("901"))
    with contextlib.suppress(ParseError):
        Directory(ME).learn(event["t"], event["d"])
