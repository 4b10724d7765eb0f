"""The page of all commands, as the command line itself has them.

``python -m tests.architecture.commands_page`` writes it anew.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup
from typer.main import get_command

from gateway.cli.main import cli
from tests.architecture.sources import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs" / "commands.md"
#: what every command takes is said once
COMMON = {"--json", "--profile", "--help"}
HEAD = """\
# Commands

Every command of `hermes-gateway`, as `--help` describes it. All take `--profile NAME`, anywhere
on the line, to work on another profile's home; all but {exceptions} take `--json`. Exit codes: 0
fine, 1 the thing failed, 2 wrong use or configuration. What the `honcho` commands change is told
in [Memory](memory.md); they are there while `memory.provider` is `honcho`.
"""


def leaves(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every command with its whole name."""
    command = command or get_command(cli)
    for name, below in command.commands.items():
        if isinstance(below, TyperGroup):
            yield from leaves(below, (*path, name))
        else:
            yield " ".join((*path, name)), below


def options(command: Any) -> set[str]:
    """Return every name of a command's options."""
    return {name for each in command.params for name in each.opts if name.startswith("-")}


def page() -> str:
    """Return the page."""
    root: Any = get_command(cli)
    without = [f"`{name}`" for name, command in leaves() if "--json" not in options(command)]
    parts = [HEAD.format(exceptions=" and ".join(without))]
    for name, command in root.commands.items():
        grouped = isinstance(command, TyperGroup)
        if grouped:
            parts.append(f"## {name}\n\n{_text(command)}\n")
        level = "###" if grouped else "##"
        for full, leaf in leaves(command, (name,)) if grouped else [(name, command)]:
            parts.append(_section(level, full, leaf))
    return "\n".join(parts)


def _section(level: str, name: str, command: Any) -> str:
    lines = [f"{level} {name}", "", f"`{_usage(name, command)}`", "", _text(command)]
    rows = [row for each in command.params if (row := _row(each))]
    if rows:
        lines += ["", "| | |", "|---|---|", *rows]
    return "\n".join(lines) + "\n"


def _usage(name: str, command: Any) -> str:
    words = [f"hermes-gateway {name}"]
    for each in command.params:
        if each.param_type_name == "argument":
            shown = each.metavar or each.name.upper()
            many = "…" if each.nargs == -1 else ""
            bare = shown.strip("[]{}")
            words.append(f"{bare}{many}" if each.required else f"[{bare}{many}]")
    return " ".join(words)


def _row(param: Any) -> str:
    """Return a parameter's row, "" for what says nothing more than the usage."""
    text = " ".join((getattr(param, "help", None) or "").split())
    if param.param_type_name == "argument":
        name = (param.metavar or param.name.upper()).strip("[]{}")
        return f"| `{_cell(name)}` | {_cell(text)} |" if text else ""
    if set(param.opts) & COMMON or param.hidden:
        return ""
    metavar = "" if param.is_flag else f" {param.metavar or param.name.upper()}"
    names = ", ".join(f"`{name}{metavar}`" for name in param.opts)
    return f"| {_cell(names)} | {_cell(text)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _text(command: Any) -> str:
    return inspect.cleandoc(command.help or "").replace("\f", "")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
