"""The page about memory lists every key with its default, and a test that shows what it does."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from typing import Any

from gateway.settings.honcho_schema import HonchoSettings
from tests.architecture.sources import ROOT

_ROW = re.compile(r"^\| `(\w+)` \| `(.*?)` \| (.+?) \| (.+?) \|$", re.MULTILINE)
_NOT_YET = "not yet"


def _rows() -> list[tuple[str, str, str]]:
    """Return key, default and test of each row."""
    page = (ROOT / "docs" / "memory.md").read_text(encoding="utf-8")
    return [(key, default, shown.strip("`")) for key, default, _, shown in _ROW.findall(page)]


def _without_gaps(value: Any) -> Any:
    """Return an override object without what it leaves as it is."""
    if not isinstance(value, dict):
        return value
    inner = {key: _without_gaps(each) for key, each in value.items() if each is not None}
    return {key: each for key, each in inner.items() if each != {}}


def test_the_table_lists_the_keys_of_the_schema_with_their_defaults() -> None:
    schema = HonchoSettings().model_dump(mode="json", by_alias=True)
    del schema["host"]
    listed = [(key, json.loads(default)) for key, default, _ in _rows()]
    assert listed == [(key, _without_gaps(value)) for key, value in schema.items()]


@cache
def _functions(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, kinds))


def test_every_named_test_exists() -> None:
    named = [shown.partition("::") for _, _, shown in _rows() if shown != _NOT_YET]
    missing = [(file, name) for file, _, name in named if name not in _functions(file)]
    assert missing == []


def test_every_key_is_shown_by_a_test() -> None:
    assert [key for key, _, shown in _rows() if shown == _NOT_YET] == []
