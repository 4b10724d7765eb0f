"""Odd payloads: one clear error that quotes nothing, and no other exception."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.parse import parse
from adapters.slack.slash import parse_slash
from gateway.text.fields import ParseError
from tests.fakes.fuzzing import examples
from tests.unit.slack.samples import VIEW, message, payload, recorded

PAYLOADS = recorded()
SECRET = "private words"
NOW = datetime(2026, 11, 29, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ([], "payload: expected an object, got list"),
        ({}, "payload.event: expected an object, got NoneType"),
        (payload(SECRET), "payload.event: expected an object, got str"),
        (payload({"text": SECRET}), "payload.event.type"),
        (payload(message(SECRET, ts=None)), "payload.event.ts: expected a ts"),
        (payload(message(SECRET, ts=1795982000.0001)), "payload.event.ts: expected a text"),
        (payload(message(SECRET, ts=SECRET)), "payload.event.ts: expected a ts"),
        (payload(message(SECRET, channel=None)), "payload.event.channel"),
        (payload(message(SECRET, channel=7)), "payload.event.channel"),
        (payload(message(SECRET, user=7)), "payload.event.user"),
        (
            payload({**message(), "text": [SECRET]}),
            "payload.event.text: expected a text, got list",
        ),
        (payload(message(files=SECRET)), "payload.event.files: expected a list, got str"),
        (payload(message(files=[{"name": SECRET}])), "payload.event.files[0].id"),
        (payload({**message(), "subtype": "message_changed"}), "payload.event.message"),
        (payload({**message(), "subtype": "message_deleted"}), "payload.event.deleted_ts"),
        (payload({"type": "member_joined_channel", "channel": "C1"}), "event_ts"),
    ],
)
def test_the_error_names_the_place_and_quotes_nothing(body: object, place: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(body, VIEW)
    assert place in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("missing", ["command", "channel_id", "user_id", "trigger_id"])
def test_a_slash_command_needs_its_fields(missing: str) -> None:
    body = {key: value for key, value in PAYLOADS["slash_command"].items() if key != missing}
    with pytest.raises(ParseError, match=missing):
        parse_slash(body, VIEW, NOW)


@pytest.mark.parametrize(
    ("command", "text", "said"),
    [
        ("/hermes", "new", "/new"),
        ("/Hermes", "NEW please", "/NEW please"),
        ("/new", "", "/new"),
        ("/new", "x", "/new x"),
        ("/hermes", "hello there", "hello there"),
        ("/hermes", "", ""),
        ("/hermes", "/new", "/new"),
    ],
)
def test_what_a_slash_command_stands_for(command: str, text: str, said: str) -> None:
    body = PAYLOADS["slash_command"] | {"command": command, "text": text}
    event = parse_slash(body, VIEW, NOW)
    assert (event.text, event.mentions_bot, event.sent_at) == (said, True, NOW)
    assert (event.command is not None) == said.startswith("/")


@pytest.mark.parametrize("name", [name for name in PAYLOADS if name != "slash_command"])
def test_unknown_fields_and_nulls_change_nothing(name: str) -> None:
    def grown(value: Any) -> Any:
        if isinstance(value, list):
            return [grown(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {**{k: grown(v) for k, v in value.items()}, "zz_new": {"a": [1]}, "title2": None}

    assert parse(grown(PAYLOADS[name]), VIEW) == parse(PAYLOADS[name], VIEW)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


@settings(max_examples=examples(300), deadline=None)
@given(st.data())
def test_no_other_exception_comes_of_any_damage(data: st.DataObject) -> None:
    body = json.loads(json.dumps(PAYLOADS[data.draw(st.sampled_from(sorted(PAYLOADS)))]))
    holder = body
    while True:
        key = data.draw(st.sampled_from(sorted(holder)))
        if isinstance(holder[key], dict) and holder[key] and data.draw(st.booleans()):
            holder = holder[key]
            continue
        holder[key] = data.draw(JSON)
        break
    with contextlib.suppress(ParseError):
        parse(body, VIEW)
    with contextlib.suppress(ParseError):
        parse_slash(body, VIEW, NOW)
