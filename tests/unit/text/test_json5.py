"""JSON with comments, bare keys and commas too many."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.text import json5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ("{a: 1, b_$2: [1, 2,],}", {"a": 1, "b_$2": [1, 2]}),
        ("// x\n{ /* y: , } */ 'a': 'it\\'s \"ok\"' }", {"a": 'it\'s "ok"'}),
        ('{"url": "http://a//b", "c": "a, }"}', {"url": "http://a//b", "c": "a, }"}),
        ('{"a": "/* no */ {b: 1,}", // {c: 2\n}', {"a": "/* no */ {b: 1,}"}),
        ('{a: true, b: null, c: {d: "0"}}', {"a": True, "b": None, "c": {"d": "0"}}),
    ],
)
def test_what_people_write(text: str, value: Any) -> None:
    assert json5.loads(text) == value


@pytest.mark.parametrize("text", ["", "{", "{a: }", "{a 1}", "x", "{'a': 1"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        json5.loads(text)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(_VALUES)
def test_plain_json_is_itself(value: Any) -> None:
    assert json5.loads(json.dumps(value)) == value
