"""Everything that is wrong or odd in the files, collected, each as one line without secrets."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.policy.redact import redact
from gateway.settings.nodes import Items, Node, Scalar, Source, Table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

HIDDEN = "the value (hidden)"
_LONGEST = 60
_SECRET_KEY = re.compile(r"key$|token(?!s)|secret|passw|jwt|credential|authorization|oauth", re.I)
#: a name and password before a host; more characters in a row than any setting needs
_SECRET_VALUE = re.compile(r":[^\s@]+@|[A-Za-z0-9_+-]{32,}")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that ``name`` was probably meant to be."""
    folded = {other.casefold().replace("_", ""): other for other in known}
    close = difflib.get_close_matches(name.casefold().replace("_", ""), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def is_secret_key(name: str) -> bool:
    """Return whether a key of this name may hold a secret."""
    return bool(_SECRET_KEY.search(name))


def shown(node: Node, path: Iterable[str] = ()) -> str:
    """Return a value as it may be printed: short, on one line, secrets hidden."""
    if isinstance(node, Table):
        return "a mapping"
    if isinstance(node, Items):
        return "a list"
    if node.absent:
        return "nothing"
    if any(map(is_secret_key, (*path, node.source.variable))) or _holds_secret(node.text):
        return HIDDEN
    return shown_text(node.text)


def _holds_secret(text: str) -> bool:
    return _SECRET_VALUE.search(text) is not None or redact(text, ()) != text


def shown_text(text: str) -> str:
    """Return text cut to a readable length, with every odd character escaped."""
    cut = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    plain = cut.isprintable() and cut == cut.strip() != ""
    return cut if plain else json.dumps(cut)


class Fault(str):
    """One fault's line, which knows the place of what is faulty."""

    __slots__ = ("path", "source")
    source: Source
    path: tuple[str, ...]

    @classmethod
    def at(cls, source: Source, path: Iterable[str], line: str) -> Fault:
        """Return a line with its place."""
        fault = cls(line)
        fault.source, fault.path = source, tuple(path)
        return fault


@dataclass(slots=True)
class Findings:
    """Collects faults, warnings and the keys that have no meaning here."""

    #: files inside are named relative to it
    home: Path
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)

    def place(self, source: Source) -> str:
        """Return ``config.yaml:12`` or the like."""
        if source.file is None:
            return "environment"
        inside = source.file.is_relative_to(self.home)
        name = str(source.file.relative_to(self.home) if inside else source.file)
        return f"{name}:{source.line}" if source.line else name

    def _line(self, source: Source, path: Iterable[str], problem: str) -> str:
        key = source.variable or ".".join(path)
        return ": ".join(part for part in (self.place(source), key, problem) if part)

    def fault(self, source: Source, path: Iterable[str], problem: str) -> None:
        """Record what stops the start."""
        path = tuple(path)
        line = self._line(source, path, problem)
        if line not in self.faults:
            self.faults.append(Fault.at(source, path, line))

    def warn(self, source: Source, path: Iterable[str], problem: str) -> None:
        """Record what the operator should know."""
        self.warnings.append(self._line(source, path, problem))

    def unknown(self, key: Scalar, path: tuple[str, ...], known: Iterable[str]) -> None:
        """Warn of a key that means nothing, naming the one it may have been meant to be."""
        close = nearest(key.text, known)
        hint = f"did you mean {close}?" if close else "it has no effect"
        self.warn(key.source, (*path, shown_text(key.text)), f"unknown key; {hint}")

    def not_used(self, source: Source, path: Iterable[str]) -> None:
        """Record a key that another product reads and this one does not."""
        self.unused.append(f"{self.place(source)}: {source.variable or '.'.join(path)}")
