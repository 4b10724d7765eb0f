"""What the product may not do: swallow everything, print, stay unfinished or undescribed."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.architecture.sources import Module

_BROAD = ("Exception", "BaseException")
_UNFINISHED = re.compile(r"\b(NotImplementedError|TODO|FIXME|XXX)\b")
#: a path that exists on one machine only
_MACHINE = re.compile(r"(?<![\w./])/(?:home|Users|root|work|mnt)/\w+")
_TEXT_SUFFIXES = {
    *(".py", ".md", ".toml", ".yaml", ".yml", ".json", ".cfg", ".ini", ".mako", ".sh"),
    ".service",
}
_TEXT_NAMES = {"Makefile", "Dockerfile", "LICENSE", "run", ".editorconfig", ".gitignore"}
_SKIPPED = re.compile(r"\.(?!ci$)|(?:build|dist|__pycache__)$")


def broad_excepts(found: list[Module], allowed: Mapping[str, str]) -> list[str]:
    """Return a line for each handler of everything outside ``allowed``, and each stale entry.

    A handler that ends by raising the same again is none: it tidies up.
    ``allowed`` maps ``path function`` to the reason why that function may catch everything.
    """
    seen = {f"{module.path} {name}": line for module in found for name, line in _handlers(module)}
    return [
        f"{where} (line {line}): catches everything; name the errors that are expected"
        for where, line in seen.items()
        if where not in allowed
    ] + [f"{where}: allowed to catch everything, but does not" for where in allowed.keys() - seen]


def _handlers(module: Module) -> Iterator[tuple[str, int]]:
    def visit(node: ast.AST, owner: str) -> Iterator[tuple[str, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ExceptHandler) and _swallows(child):
                yield owner, child.lineno
            if isinstance(child, ast.Call) and _suppresses_everything(child):
                yield owner, child.lineno
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from visit(child, f"{owner}.{child.name}".lstrip("."))
            else:
                yield from visit(child, owner)

    yield from visit(module.tree, "")


def _swallows(handler: ast.ExceptHandler) -> bool:
    raises_again = isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None
    return _broad(handler.type) and not raises_again


def _broad(caught: ast.expr | None) -> bool:
    match caught:
        case None:
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _BROAD
        case ast.Tuple(elts=elements):
            return any(_broad(element) for element in elements)
    return False


def _suppresses_everything(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id="suppress") | ast.Attribute(attr="suppress"):
            return any(_broad(argument) for argument in call.args)
    return False


def prints(found: list[Module]) -> list[str]:
    """Return a line for each call of ``print``: output belongs to the console and the commands."""
    return _each(found, lambda node: isinstance(node, ast.Call) and _is_print(node), "print()")


def _is_print(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "print"


def _each(found: list[Module], fits: Callable[[ast.AST], bool], what: str) -> list[str]:
    return [
        f"{module.path}:{getattr(node, 'lineno', 0)}: {what}"
        for module in found
        for node in ast.walk(module.tree)
        if fits(node)
    ]


def unfinished(found: list[Module]) -> list[str]:
    """Return a line for each mark of work that was left for later."""
    return [
        f"{module.path}:{number}: {match[1]}"
        for module in found
        for number, line in enumerate(module.text.splitlines(), 1)
        if (match := _UNFINISHED.search(line))
    ]


def undescribed(found: list[Module]) -> list[str]:
    """Return the path of each module without a docstring."""
    return [module.path for module in found if not ast.get_docstring(module.tree)]


def machine_paths(root: Path) -> list[str]:
    """Return a line for each absolute path of one person's machine in any text file.

    Tests may have people with homes.
    """
    return [
        f"{file.relative_to(root).as_posix()}:{number}: {match[0]}"
        for file in text_files(root)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if (match := _MACHINE.search(line)) and not _invented(file.relative_to(root), match[0])
    ]


def _invented(file: Path, path: str) -> bool:
    return file.parts[0] == "tests" and path.startswith("/home/")


def text_files(root: Path) -> Iterator[Path]:
    """Yield the project's text files, without caches and the environment."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _SKIPPED.match(name))
        for name in sorted(names):
            file = Path(folder, name)
            if (file.suffix in _TEXT_SUFFIXES or name in _TEXT_NAMES) and file.is_file():
                yield file
