"""A home whose files have faults: what set-up can mend in them, before anything else is asked.

A faulty value is taken out, so that its question or its default comes in its place; a line of .env
is made a comment; a file that cannot be read at all is set aside. The file as it was stays under a
dated name, and nothing is written before the very end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model.errors import ConfigurationError
from gateway.ops.clock import SystemClock
from gateway.settings import files, rewrite
from gateway.settings.dialects import dialect_of
from gateway.settings.document import Document, UneditableError
from gateway.settings.findings import Fault
from gateway.settings.nodes import Items, Node, Table
from gateway.settings.splice import REMOVE
from gateway.setup.asking import NO, yes_or_no

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.setup.asking import Asker

    Load = Callable[[Mapping[Path, str]], Loaded]

#: one mended fault can uncover others; more rounds than this are no progress
_ROUNDS = 20
_COMMENT = "# taken out by set-up: "


@dataclass(frozen=True, slots=True)
class Mended:
    """What a file would hold without its faults, and where it stays as it was."""

    text: str
    lines: tuple[str, ...]
    kept: Path
    #: the file as a whole is set aside
    whole: bool = False


def mend(home: Home, load: Load, asker: Asker) -> dict[Path, Mended]:
    """Return what to read in place of the files with faults, once that was agreed to.

    Raises ``ConfigurationError`` with all faults where that was declined, and where one of them
    cannot be mended here.
    """
    try:
        load({})
    except ConfigurationError as error:
        mended = _worked_out(home, load, error)
        asker.say("There are faults in what is here:")
        for line in (*error.problems, "", "Mending them means:"):
            asker.say(f"  {line}" if line else "")
        for path, one in mended.items():
            for line in (*one.lines, f"as it was, it stays in {one.kept}"):
                asker.say(f"  {path}: {line}")
        if not yes_or_no(asker, "mend", "Mend that, and go on?", default=True, unsaid=NO):
            raise
        return mended
    return {}


def _worked_out(home: Home, load: Load, first: ConfigurationError) -> dict[Path, Mended]:
    mended: dict[Path, Mended] = {}
    problem = first
    for _ in range(_ROUNDS):
        before = dict(mended)
        for fault in problem.problems:
            _take_out(home, fault, mended, before)
        if mended == before:
            break
        try:
            load({path: one.text for path, one in mended.items()})
        except ConfigurationError as error:
            problem = error
        else:
            return mended
    raise first


def _take_out(
    home: Home, fault: str, mended: dict[Path, Mended], before: Mapping[Path, Mended]
) -> None:
    """Mend one fault; ``before`` is what its line is counted in."""
    path = fault.source.file if isinstance(fault, Fault) else None
    if not isinstance(fault, Fault) or path is None or _is_whole(mended, path):
        return
    if path == home.env and fault.source.line:
        after = _commented(_text(path, mended), fault.source.line)
        done = f"line {fault.source.line}: made a comment"
    elif not fault.path:
        after, done = None, "cannot be read, so it is set aside and begun anew"
    else:
        fresh = mended.get(path) == before.get(path)
        after, done = _without(path, _text(path, mended), fault, by_line=fresh)
        if not done:
            return
    old = mended.get(path) or Mended("", (), _dated(path))
    if after is not None:
        mended[path] = Mended(after, (*old.lines, done), old.kept)
    elif path.is_file():
        empty = "{}\n" if path.suffix == ".json" else ""
        mended[path] = Mended(empty, (done,), old.kept, whole=True)


def _is_whole(mended: Mapping[Path, Mended], path: Path) -> bool:
    return path in mended and mended[path].whole


def _text(path: Path, mended: Mapping[Path, Mended]) -> str:
    if path in mended:
        return mended[path].text
    try:
        content = files.load(path)
    except files.UnreadableError:
        return ""
    return content.text if content else ""


def _dated(path: Path) -> Path:
    return path.with_name(f"{path.name}.{SystemClock().now():%Y-%m-%d-%H%M%S}")


def _commented(text: str, number: int) -> str:
    lines = text.split("\n")
    lines[number - 1] = _COMMENT + lines[number - 1].strip()
    return "\n".join(lines)


def _without(path: Path, text: str, fault: Fault, *, by_line: bool) -> tuple[str, str]:
    """Return the text without what is faulty and what was done; "" twice where that is unclear."""
    try:
        root = Document.of(text, dialect_of(path)).root
        key = fault.path if root.get(*fault.path) is not None else ()
        if not key and by_line:
            found = list(_at_line(root, fault.source.line, ()))
            key = found[0] if len(found) == 1 else ()
        after = rewrite.changed(path, text, {key: REMOVE}) if key else text
    except (ConfigurationError, UneditableError, files.UnreadableError):
        return "", ""
    return (after, f"{'.'.join(key)}: taken out") if after != text else ("", "")


def _at_line(node: Node, line: int, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the innermost keys that stand in a line."""
    if not isinstance(node, Table):
        return
    for name, entry in node.entries.items():
        inner = list(_at_line(entry.value, line, (*path, name)))
        yield from inner
        if not inner and line in _lines(entry.key.source.line, entry.value):
            yield (*path, name)


def _lines(first: int, value: Node) -> set[int]:
    items = value.items if isinstance(value, Items) else ()
    return {first, value.source.line, *(item.source.line for item in items)}
