"""Packed JSON: small, whole, and never guessed at."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.store.packed import pack, unpack

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
IDENTITY = {
    "peer": "700100200",
    "rung": "raw",
    "source": "runtime id",
    "steps": [
        {"rung": "unattributed", "matched": False, "detail": "the sender is a person"},
        {"rung": "pin", "matched": False, "detail": "pinUserPeer is false"},
        {"rung": "raw", "matched": True, "detail": "no rule names telegram:700100200"},
    ],
}


@given(_VALUES)
def test_every_value_comes_back(value: object) -> None:
    assert unpack(pack(value)) == value


def test_what_all_have_in_common_takes_no_room() -> None:
    assert len(pack(IDENTITY)) < len(json.dumps(IDENTITY)) / 5


def test_values_that_are_stored_stay_readable() -> None:
    """The words behind mark 1 must never change: this was written by the first version."""
    assert unpack(bytes.fromhex(FIRST)) == {"model": "openai:m", "requests": 1, "x": "ё"}


def test_an_unknown_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="does not know"):
        unpack(b"\x02" + pack({})[1:])


FIRST = "01c3cc0cb9e0e4819acf2a40f217272ad50200"
