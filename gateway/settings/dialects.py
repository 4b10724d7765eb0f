"""How a value is written in YAML and in JSON, for edits inside an existing file."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from gateway.settings.json_nodes import parse_json
from gateway.settings.nodes import Node, Source, Table
from gateway.settings.yaml_nodes import parse_yaml

#: what a settings file can hold
Value: TypeAlias = (
    "str | int | float | bool | list[Value] | tuple[Value, ...] | dict[str, Value] | None"
)

_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_RESERVED = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"})
_NOWHERE = Path()


class Dialect(Protocol):
    """A notation of nested values."""

    @property
    def blocks(self) -> bool:
        """The outermost mapping has no brackets."""
        ...

    def parse(self, text: str) -> Node:
        """Return the tree; an empty text is an empty table. Raises ``UnreadableError``."""
        ...

    def key(self, name: str) -> str: ...

    def inline(self, value: Value) -> str:
        """Return a value on one line."""
        ...


@dataclass(frozen=True, slots=True)
class Json:
    blocks: bool = False

    def parse(self, text: str) -> Node:
        return parse_json(text, _NOWHERE)

    def key(self, name: str) -> str:
        return json.dumps(name, ensure_ascii=False)

    def inline(self, value: Value) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, slots=True)
class Yaml:
    blocks: bool = True

    def parse(self, text: str) -> Node:
        return parse_yaml(text, _NOWHERE) or Table(Source(None), flow=False)

    def key(self, name: str) -> str:
        plain = _PLAIN_WORD.fullmatch(name) and name.lower() not in _RESERVED
        return name if plain else json.dumps(name, ensure_ascii=False)

    def inline(self, value: Value) -> str:
        if isinstance(value, str):
            return self.key(value)
        if isinstance(value, dict):
            pairs = (f"{self.key(name)}: {self.inline(inner)}" for name, inner in value.items())
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(self.inline, value)) + "]"
        return json.dumps(value, allow_nan=False)


def dialect_of(path: Path) -> Json | Yaml:
    """Return the notation of a settings file by its name."""
    return Json() if path.suffix == ".json" else Yaml()
