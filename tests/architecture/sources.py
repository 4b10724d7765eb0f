"""The project's Python files, parsed, and what each of them imports."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("gateway", "adapters", "migrations")
#: what is read as code; a migration is a list, as long as the schema
CODE = ("gateway", "adapters")


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed file. ``path`` is relative to the root it was found under, with slashes."""

    name: str
    path: str
    text: str
    tree: ast.Module


@dataclass(frozen=True, slots=True)
class Import:
    """``source`` imports ``target``, a dotted name, at ``line``."""

    source: Module
    target: str
    line: int

    @property
    def where(self) -> str:
        """Return ``path:line``."""
        return f"{self.source.path}:{self.line}"


def modules(root: Path, *folders: str) -> list[Module]:
    """Parse every Python file under ``folders`` of ``root``, sorted by path."""
    files = sorted(file for folder in folders for file in (root / folder).rglob("*.py"))
    return [_parse(file, root) for file in files]


@cache
def _parse(file: Path, root: Path) -> Module:
    relative = file.relative_to(root)
    parts = relative.with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    text = file.read_text(encoding="utf-8")
    return Module(name, relative.as_posix(), text, ast.parse(text))


def imports(found: list[Module]) -> list[Import]:
    """Return every import of every module, wherever in the file it stands.

    Imports under ``TYPE_CHECKING``, inside functions and by ``import_module("literal")`` count
    like any other. ``from package import name`` is an import of ``package.name``, unless that is
    a name inside ``package`` rather than a module of its own.
    """
    known = {module.name for module in found}
    return [
        Import(module, target, node.lineno)
        for module in found
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)
        for target in _targets(node, module, known)
    ]


def _targets(node: ast.AST, module: Module, known: set[str]) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(names=names):
            package = _absolute(node, module)
            for alias in names:
                whole = f"{package}.{alias.name}"
                yield package if package in known and whole not in known else whole
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield name


def _absolute(node: ast.ImportFrom, module: Module) -> str:
    if not node.level:
        return node.module or ""
    package = module.name.split(".")
    if not module.path.endswith("__init__.py"):
        package = package[:-1]
    package = package[: len(package) - node.level + 1]
    return ".".join([*package, node.module] if node.module else package)


def within(name: str, package: str) -> bool:
    """Return whether the dotted ``name`` is ``package`` or lies in it."""
    return name == package or name.startswith(f"{package}.")


def write_tree(root: Path, files: Mapping[str, str]) -> Path:
    """Lay out ``files`` (path → text) under ``root``: the small trees that checks must fail on."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root
