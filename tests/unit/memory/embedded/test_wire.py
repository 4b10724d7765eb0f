"""What is accepted over the wire, and how it is cleaned."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.memory.embedded import wire
from gateway.memory.embedded.values import new_id, token_count


def nested(depth: int) -> dict[str, Any]:
    """Objects in objects, ``depth`` of them."""
    return {} if depth == 1 else {"a": nested(depth - 1)}


@pytest.mark.parametrize("name", ["a", "x" * 100, "A_b-9"])
def test_ids(name: str) -> None:
    assert wire.PeerCreate(id=name).id == name


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("", "string_too_short"),
        ("x" * 101, "string_too_long"),
        ("a.b", "string_pattern_mismatch"),
        ("a\n", "string_pattern_mismatch"),
        ("a\0", "string_pattern_mismatch"),
        ("é", "string_pattern_mismatch"),
        ("\ud800", "string_unicode"),
        (7654321, "string_type"),
    ],
)
def test_bad_ids(name: Any, kind: str) -> None:
    with pytest.raises(ValidationError) as caught:
        wire.PeerCreate(id=name)
    assert [each["type"] for each in caught.value.errors()] == [kind]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, {}),
        ({"a\0": "b\0"}, {"a": "b"}),
        ({"a": ["\0x", {"b": "\ud800"}]}, {"a": ["x", {"b": "\ufffd"}]}),
        ({"a": "\ud83d\ude00"}, {"a": "😀"}),
        (nested(5), nested(5)),
        ({"a": [[[[[[1]]]]]]}, {"a": [[[[[[1]]]]]]}),
        (
            {"n": 2**70, "f": 0.1, "b": True, "z": None},
            {"n": 2**70, "f": 0.1, "b": True, "z": None},
        ),
    ],
)
def test_metadata(given: dict[str, Any], kept: dict[str, Any]) -> None:
    assert wire.PeerCreate(id="a", metadata=given).metadata == kept


@pytest.mark.parametrize(
    "given",
    [
        nested(6),
        {str(number): 1 for number in range(101)},
        {"a": float("nan")},
        {"a": [float("inf")]},
        {"a": eval("[" * 60 + "]" * 60)},
        [],
        "text",
    ],
    ids=["depth", "keys", "nan", "inf", "lists without end", "list", "text"],
)
def test_refused_metadata(given: Any) -> None:
    with pytest.raises(ValidationError):
        wire.PeerCreate(id="a", metadata=given)


def test_unknown_fields_are_left_out_but_in_a_configuration() -> None:
    message = {"content": "x", "peer_id": "a", "id": "mine"}
    assert "id" not in wire.MessageCreate.model_validate(message).model_dump()
    session = wire.SessionCreate.model_validate({"id": "s", "configuration": {"other": 1}})
    assert session.configuration is not None
    assert session.configuration.model_dump(exclude_none=True) == {"other": 1}


def test_the_length_is_counted_in_characters() -> None:
    assert len(wire.MessageCreate(content="🙂" * 25_000, peer_id="a").content) == 25_000
    with pytest.raises(ValidationError):
        wire.MessageCreate(content="x" * 25_001, peer_id="a")


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_tokens(text: str, tokens: int) -> None:
    assert token_count(text) == tokens


def test_new_ids_are_ids() -> None:
    made = {new_id() for _ in range(1000)}
    assert len(made) == 1000
    assert all(len(each) == 21 and wire.PeerCreate(id=each) for each in made)
