"""Any edit of any file: right values afterwards, and all other lines byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.settings import splice
from gateway.settings.dialects import Json, Yaml
from gateway.settings.document import Document, UneditableError
from gateway.settings.json_nodes import parse_json
from tests.unit.settings.test_notations import plain

_NAMES = st.sampled_from(["a", "b", "c", "telegram:7", "x y", "null"])
_TEXTS = st.one_of(
    st.sampled_from(
        ["honcho", "yes", "12", "", "it's", 'q"q', "a: b", "# no", "- x", "Zoë", "1e3"]
    ),
    st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=8),
)
_SCALARS = st.none() | st.booleans() | st.integers(-99, 99) | _TEXTS
_VALUES = st.one_of(
    _SCALARS,
    st.lists(_TEXTS, max_size=3),
    st.dictionaries(_NAMES, _SCALARS, max_size=2),
)
_TREES = st.dictionaries(
    _NAMES, st.one_of(_SCALARS, st.dictionaries(_NAMES, _SCALARS, max_size=3)), max_size=4
)
_PATHS = st.lists(_NAMES, min_size=1, max_size=3).map(tuple)


def raw(value: Any) -> Any:
    """Return what ``plain`` makes of a value that was written."""
    if isinstance(value, dict):
        return {name: raw(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [raw(inner) for inner in value]
    return value if isinstance(value, str) else json.dumps(value)


def changed(tree: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any] | None:
    """Return the tree after the edit, None where the path is blocked."""
    name, *rest = path
    if not rest:
        return {**tree, name: value}
    below = tree.get(name)
    below = {} if below is None else below
    inner = changed(below, tuple(rest), value) if isinstance(below, dict) else None
    return None if inner is None else {**tree, name: inner}


def set_text(document: Document, path: tuple[str, ...], value: Any) -> str | None:
    try:
        return splice.set_value(document, path, value)
    except UneditableError:
        return None


@given(tree=_TREES, path=_PATHS, value=_VALUES, indent=st.sampled_from([None, 2, 4]))
def test_json(tree: dict[str, Any], path: tuple[str, ...], value: Any, indent: int | None) -> None:
    document = Document.of(json.dumps(tree, indent=indent, ensure_ascii=False), Json())
    text = set_text(document, path, value)
    expected = changed(tree, path, value)
    assert (text is None) == (expected is None)
    if text is not None:
        assert json.loads(text) == expected


def as_yaml(tree: dict[str, Any], indent: str = "", comment: str = "  # note") -> str:
    """Write a tree with a comment behind and above every line."""
    yaml, lines = Yaml(), []
    for name, value in tree.items():
        lines.append(f"{indent}# about\n")
        if isinstance(value, dict) and value:
            lines.append(f"{indent}{yaml.key(name)}:{comment}\n")
            lines.append(as_yaml(value, f"{indent}  ", comment))
        else:
            lines.append(f"{indent}{yaml.key(name)}: {yaml.inline(value)}{comment}\n")
    return "".join(lines)


@given(tree=_TREES, path=_PATHS, value=_VALUES)
def test_yaml(tree: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    old = as_yaml(tree)
    document = Document.of(old, Yaml())
    assert plain(document.root) == raw(tree)
    new = set_text(document, path, value)
    expected = changed(tree, path, value)
    assert (new is None) == (expected is None)
    if new is None:
        return
    assert plain(Yaml().parse(new)) == raw(expected)
    before, after = _around(tree, path[0])
    assert new.startswith(before)
    assert new.endswith(after)


def _around(tree: dict[str, Any], name: str) -> tuple[str, str]:
    """Return the bytes before and after an entry, which no edit in it may touch."""
    names = list(tree)
    at = names.index(name) if name in tree else len(names)
    before = {key: tree[key] for key in names[:at]}
    after = {key: tree[key] for key in names[at + 1 :]}
    return as_yaml(before), as_yaml(after)


@given(tree=_TREES, name=_NAMES)
def test_remove(tree: dict[str, Any], name: str) -> None:
    left = {key: value for key, value in tree.items() if key != name}
    old = as_yaml(tree)
    text = splice.remove(Document.of(old, Yaml()), (name,))
    assert plain(Yaml().parse(text)) == raw(left)
    assert text.count("# about") >= as_yaml(left).count("# about")
    for indent in (None, 2):
        document = Document.of(json.dumps(tree, indent=indent), Json())
        assert plain(parse_json(splice.remove(document, (name,)), Path())) == raw(left)
