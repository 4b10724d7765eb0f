"""YAML, JSON and .env as placed nodes: nothing lost, everything odd refused with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.settings.dotenv import parse_dotenv
from gateway.settings.files import UnreadableError
from gateway.settings.findings import Findings
from gateway.settings.json_nodes import parse_json
from gateway.settings.nodes import Items, Node, Scalar, Style, Table
from gateway.settings.yaml_nodes import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Callable

FILE = Path("/srv/mira/.hermes/file")


def plain(node: Node | None) -> Any:
    """Return a tree as the stdlib would, with numbers and words as their raw text."""
    if isinstance(node, Table):
        return {name: plain(entry.value) for name, entry in node.entries.items()}
    if isinstance(node, Items):
        return [plain(item) for item in node.items]
    return node.text if node else None


def line_of(parse: Callable[[str, Path], object], text: str) -> tuple[int, str]:
    with pytest.raises(UnreadableError) as caught:
        parse(text, FILE)
    return caught.value.line, caught.value.problem


_YAML = """\
# head
list: [1, 'two', "three"]
octal: 0700100200
time: 12:30:45
big: 812345678901234567
block:
  - a   # first
  - b: 1e3
absent:
text: |
  one
  two
"""


def test_yaml_keeps_the_text_of_scalars() -> None:
    assert plain(parse_yaml(_YAML, FILE)) == {
        "list": ["1", "two", "three"],
        "octal": "0700100200",
        "time": "12:30:45",
        "big": "812345678901234567",
        "block": ["a", {"b": "1e3"}],
        "absent": "",
        "text": "one\ntwo\n",
    }


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_yaml_knows_places(newline: str) -> None:
    text = _YAML.replace("\n", newline)
    root = parse_yaml(text, FILE)
    assert isinstance(root, Table)
    octal, absent = root.get("octal"), root.get("absent")
    assert isinstance(octal, Scalar)
    assert isinstance(absent, Scalar)
    assert (octal.source.line, octal.style) == (3, Style.PLAIN)
    assert text[slice(*octal.span)] == "0700100200"
    assert absent.source.line == 9
    assert text[: absent.span[0]].endswith("absent:")


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n"])
def test_empty_yaml_is_nothing(text: str) -> None:
    assert parse_yaml(text, FILE) is None


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: 1\n\tb: 2\n", 2, "a tab; indent with spaces"),
        ("\ta: 1\n", 1, "a tab; indent with spaces"),
        ("a: 1\nb: 2\na: 3\n", 3, "'a' stands here and in line 1; remove one"),
        ("a: {x: 1, x: 2}\n", 1, "'x' stands here and in line 1; remove one"),
        ("a: [1,\n", 2, "not YAML"),
        ("a: 'x\n", 2, "not YAML"),
        ("a: b: c\n", 1, "not YAML"),
        ("a: 1\n---\nb: 2\n", 2, "a second document"),
        ("a: &x 1\nb: *x\n", 1, "an anchor"),
        ("a: *x\n", 1, "an alias"),
        ("a: !!int '3'\n", 1, "an anchor (&) or tag (!)"),
        ("a: 1\n<<: {b: 1}\n", 2, "a merge key"),
        ("? [a]\n: b\n", 1, "a key that is a list"),
        ("a: 1\nb: \x07\n", 2, "a control character"),
        ("[" * 5000, 1, "nested too deeply"),
    ],
)
def test_odd_yaml_names_its_line(text: str, line: int, problem: str) -> None:
    found = line_of(parse_yaml, text)
    assert found[0] == line
    assert problem in found[1]


_PIECES = st.sampled_from(
    [*"ab:-?,[]{}#&*!|>'\"%@`\\ \n\t0e.~<", ": ", "- ", "\n  ", "\\U", "\r\n"]
)


@given(text=st.one_of(st.text(max_size=60), st.lists(_PIECES, max_size=40).map("".join)))
def test_any_yaml_is_a_tree_or_refused(text: str) -> None:
    line = 0
    try:
        parse_yaml(text, FILE)
    except UnreadableError as error:
        line = error.line
    assert 0 <= line <= len(text.splitlines()) + 2


def test_json_knows_places() -> None:
    text = '{\n  "a": 812345678901234567,\n  "b": [1.0e+5, null, "x\\ud83d\\ude00"]\n}\n'
    root = parse_json(text, FILE)
    assert isinstance(root, Table)
    big, items = root.get("a"), root.get("b")
    assert isinstance(big, Scalar)
    assert isinstance(items, Items)
    assert (big.text, big.source.line, big.style) == ("812345678901234567", 2, Style.PLAIN)
    assert text[slice(*big.span)] == big.text
    assert plain(items) == ["1.0e+5", "null", "x😀"]
    assert text[slice(*items.span)] == '[1.0e+5, null, "x\\ud83d\\ude00"]'


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "nothing in it"),
        ('{"a": 1,\n}', 1, "a comma before }; remove it"),
        ('{\n"a": [1,\n]}', 2, "a comma before ]; remove it"),
        ('{"a": 1,\n"a": 2}', 2, "'a' stands here and in line 1; remove one"),
        ('{"a": NaN}', 1, "not a JSON value"),
        ('{"a": 01}', 1, "not a JSON value"),
        ('{"a": True}', 1, "not a JSON value"),
        ('{"a" 1}', 1, "a colon is missing"),
        ('{"a": 1\n"b": 2}', 2, "a comma or } is missing"),
        ("{a: 1}", 1, "a key must stand in double quotes"),
        ("{'a': 1}", 1, "a key must stand in double quotes"),
        ("{\"a\": 'x'}", 1, "single quotes"),
        ('{\n"a": // x\n1}', 2, "JSON knows no comments"),
        ('{"a": "x}', 1, "a text that does not end"),
        ('{"a": "\t"}', 1, "odd character"),
        ('{"a": "\\x"}', 1, "odd character or escape"),
        ('{"a": 1} {', 1, "more after the end"),
        ('{"a": ', 1, "not a JSON value"),
        ("[" * 5000, 1, "nested too deeply"),
    ],
)
def test_odd_json_names_its_line(text: str, line: int, problem: str) -> None:
    found = line_of(parse_json, text)
    assert found[0] == line
    assert problem in found[1]


_JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)


def _raw(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _raw(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_raw(inner) for inner in value]
    return value if isinstance(value, str) else json.dumps(value)


@given(value=_JSON_VALUES, indent=st.sampled_from([None, 2]), ascii_only=st.booleans())
def test_json_reads_what_the_stdlib_writes(
    value: Any, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert plain(parse_json(text, FILE)) == _raw(value)


@given(
    text=st.one_of(
        st.text(max_size=40),
        st.lists(st.sampled_from([*'{}[]:,"\\ \n0.-e', '"a"', "true"]), max_size=20).map("".join),
    )
)
def test_json_means_what_the_stdlib_reads(text: str) -> None:
    try:
        found = parse_json(text, FILE)
    except UnreadableError:
        return
    assert plain(found) == _raw(json.loads(text, parse_int=str, parse_float=str))


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("NAME=value", "value"),
        ("export NAME=value", "value"),
        ("  NAME = value  ", "value"),
        ("NAME=a#b", "a#b"),
        ("NAME=a # comment", "a"),
        ("NAME=", ""),
        ("NAME=#x", ""),
        ("NAME='a # b'", "a # b"),
        ('NAME="a \\"b\\"" # c', 'a "b"'),
        ("NAME='it\\n'", "it\\n"),
        ('NAME="x\\ny"', "x\ny"),
        ("NAME=700100200, 700100201 ,", "700100200, 700100201 ,"),
        ("NAME=a=b==", "a=b=="),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_dotenv_lines(line: str, value: str, newline: str) -> None:
    findings = Findings(FILE.parent)
    found = parse_dotenv(f"# head{newline}{line}{newline}", FILE, findings)
    assert {name: scalar.text for name, scalar in found.items()} == {"NAME": value}
    assert found["NAME"].source.line == 2
    assert findings.faults == []


@pytest.mark.parametrize("line", ["secret-token", "NA ME=secret-token", "A='secret-token", '="x"'])
def test_odd_dotenv_line_is_not_repeated(line: str) -> None:
    findings = Findings(FILE.parent)
    assert parse_dotenv(f"\n{line}\n", FILE, findings) == {}
    assert len(findings.faults) == 1
    assert findings.faults[0].startswith("file:2: ")
    assert "secret-token" not in findings.faults[0]


def test_later_dotenv_line_counts_and_is_said() -> None:
    findings = Findings(FILE.parent)
    found = parse_dotenv("A=1\nA=2\n", FILE, findings)
    assert found["A"].text == "2"
    assert findings.warnings == ["file:2: A: stands in line 1 too; this line counts"]
