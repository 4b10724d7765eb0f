"""Every test can fail: it asserts, expects an exception, or calls something of ours that does."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.architecture.sources import Module

#: a deadline is an expectation too: what it surrounds must come to an end
_EXPECTATIONS = {"raises", "warns", "fail", "assert_never", "timeout", "wait_for"}


def toothless(found: list[Module]) -> list[str]:
    """Return ``path name`` of each test function that cannot fail by its own judgement.

    A helper counts when a function of that name anywhere in ``found`` asserts, directly or
    through further helpers. A property may also judge by what it lets escape: nothing but the
    errors that it catches.
    """
    bodies: dict[str, list[ast.AST]] = {}
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                bodies.setdefault(node.name, []).append(node)
    biting = _biting(bodies)
    return [
        f"{module.path} {node.name}"
        for module in found
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not (_judges(node) or _calls(node) & biting)
    ]


def _biting(bodies: dict[str, list[ast.AST]]) -> set[str]:
    biting = {name for name, nodes in bodies.items() if any(map(_judges, nodes))}
    while True:
        more = {
            name
            for name, nodes in bodies.items()
            if name not in biting and any(_calls(node) & biting for node in nodes)
        }
        if not more:
            return biting
        biting |= more


def _judges(function: ast.AST) -> bool:
    return _lets_nothing_else_escape(function) or any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Call) and _name(node) in _EXPECTATIONS)
        for node in ast.walk(function)
    )


def _lets_nothing_else_escape(function: ast.AST) -> bool:
    decorators = getattr(function, "decorator_list", [])
    fuzzed = any(isinstance(each, ast.Call) and _name(each) == "given" for each in decorators)
    return fuzzed and any(
        isinstance(node, ast.Try) or (isinstance(node, ast.Call) and _name(node) == "suppress")
        for node in ast.walk(function)
    )


def _calls(function: ast.AST) -> set[str]:
    return {_name(node) for node in ast.walk(function) if isinstance(node, ast.Call)}


def _name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
