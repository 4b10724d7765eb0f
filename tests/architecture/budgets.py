"""Sizes of files and functions beside their budgets; run as a module it prints the numbers."""

from __future__ import annotations

import ast
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.architecture.sources import CODE, ROOT, modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.architecture.sources import Module

MAX_FILE = 400
MAX_FUNCTION = 60
MAX_POSITIONAL = 5
#: what good files and functions stay under; shown, not enforced
AIM_FILE, AIM_MEDIAN, AIM_P90 = 300, 8, 25


@dataclass(frozen=True, slots=True)
class Function:
    """One function: where it stands, its lines from ``def`` to its end, its positional ones."""

    where: str
    lines: int
    positional: int


def functions(found: Iterable[Module]) -> Iterator[Function]:
    """Yield every function and method, nested ones too."""
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                yield Function(
                    f"{module.path}:{node.lineno} {node.name}", lines, _positional(node)
                )


def _positional(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def length(module: Module) -> int:
    """Return the number of lines of a file."""
    return len(module.text.splitlines())


def budget_faults(found: list[Module]) -> list[str]:
    """Return one line for each file or function over its hard budget."""
    files = [
        f"{module.path}: {length(module)} lines, at most {MAX_FILE}"
        for module in found
        if length(module) > MAX_FILE
    ]
    long = [
        f"{each.where}: {each.lines} lines, at most {MAX_FUNCTION}"
        for each in functions(found)
        if each.lines > MAX_FUNCTION
    ]
    wide = [
        f"{each.where}: {each.positional} positional parameters, at most {MAX_POSITIONAL}"
        for each in functions(found)
        if each.positional > MAX_POSITIONAL
    ]
    return files + long + wide


def report(found: list[Module]) -> str:
    """Return the table that ``make budgets`` prints."""
    files = [length(module) for module in found] or [0]
    sizes = [each.lines for each in functions(found)] or [0]
    over = [module.path for module in found if length(module) > AIM_FILE]
    return "\n".join(
        (
            f"{len(found)} files, {sum(files)} lines, {len(sizes)} functions",
            f"files      median {statistics.median(files):g}, p90 {_p90(files)}, "
            f"largest {max(files)} (aim {AIM_FILE}, hard {MAX_FILE})",
            f"functions  median {statistics.median(sizes):g} (aim {AIM_MEDIAN}), "
            f"p90 {_p90(sizes)} (aim {AIM_P90}), longest {max(sizes)} (hard {MAX_FUNCTION})",
            f"files over {AIM_FILE} lines: {', '.join(over) or 'none'}",
        )
    )


def _p90(values: list[int]) -> int:
    return sorted(values)[max(0, -(-len(values) * 9 // 10) - 1)]


if __name__ == "__main__":
    print(report(modules(ROOT, *CODE)))
