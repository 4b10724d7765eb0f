"""Links lead somewhere, tests can fail, and the lock files fit pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.core import TyperGroup
from typer.main import get_command

from gateway.cli.main import cli
from tests.architecture.asserting import toothless
from tests.architecture.conduct import text_files
from tests.architecture.links import link_faults
from tests.architecture.sources import ROOT, modules, write_tree

if TYPE_CHECKING:
    from pathlib import Path


def test_every_link_resolves() -> None:
    assert link_faults(ROOT) == []


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    page = (
        "# One `page` here\n\n[a](b.md) [c](b.md#two-words) [d](#one-page-here) ![e](img.png)\n\n"
        "[f](https://example.org/x) [g](b.md#gone) [h](#gone) [i](folder)\n"
    )
    root = write_tree(tmp_path, {"a.md": page, "b.md": "## Two words!\n", "folder/c.md": ""})
    assert link_faults(root) == ["a.md: img.png", "a.md: b.md#gone", "a.md: #gone"]


def _code(page: Path) -> str:
    fences_and_spans = r"^```.*?^```|`[^`\n]+`"
    return "\n".join(
        re.findall(fences_and_spans, page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    )


def test_every_make_target_that_a_page_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    pages = [file for file in text_files(ROOT) if file.suffix == ".md"]
    named = {
        name for page in pages for name in re.findall(r"\bmake (?:-s )?([a-z]+)", _code(page))
    }
    assert {"run", "test", "check"} <= named
    assert named - targets == set()


def _commands() -> dict[str, set[str]]:
    """Return the command line's commands, each with its subcommands."""
    root = get_command(cli)
    assert isinstance(root, TyperGroup)
    return {name: set(getattr(command, "commands", ())) for name, command in root.commands.items()}


def test_every_command_that_a_page_names_exists() -> None:
    pages = [file for file in text_files(ROOT) if file.suffix == ".md"]
    named = re.findall(
        r"hermes-gateway ([a-z]+)(?: ([a-z][a-z-]*))?", "\n".join(map(_code, pages))
    )
    commands = _commands()
    unknown = [
        (name, sub)
        for name, sub in named
        if name not in commands or (sub and commands[name] and sub not in commands[name])
    ]
    assert len(named) > 5
    assert unknown == []


def test_the_readme_names_every_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([a-z]+)", readme, re.MULTILINE))
    assert named == _commands().keys()


def test_help_describes_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    described = re.findall(r"^([a-z]+):.*## \S", makefile, re.MULTILINE)
    assert sorted(described) == sorted(phony.split())


def test_every_test_can_fail() -> None:
    assert toothless(modules(ROOT, "tests")) == []


@pytest.mark.parametrize(
    ("source", "sound"),
    [
        ("def test_a():\n    work()", False),
        ("async def test_a():\n    await work()", False),
        ("def test_a():\n    assert work()", True),
        ("def test_a():\n    with pytest.raises(OSError):\n        work()", True),
        ("def check(x):\n    assert x\ndef test_a():\n    check(1)", True),
        ("def b(x):\n    assert x\ndef c(x):\n    b(x)\ndef test_a():\n    c(1)", True),
        ("async def test_a():\n    async with asyncio.timeout(1):\n        await work()", True),
        ("@given(x)\ndef test_a(x):\n    with suppress(OSError):\n        work(x)", True),
        ("def test_a():\n    with suppress(OSError):\n        work()", False),
        ("class TestA:\n    def test_a(self):\n        work()", False),
    ],
)
def test_a_test_that_cannot_fail_is_seen(tmp_path: Path, source: str, sound: bool) -> None:
    found = modules(write_tree(tmp_path, {"tests/unit/test_x.py": source}), "tests")
    assert (toothless(found) == []) is sound


def _pins(lock: str) -> dict[str, str]:
    text = (ROOT / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", text, re.MULTILINE))


def _wanted(*extras: str) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for extra in extras for line in optional[extra])]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize(
    ("lock", "extras"),
    [
        ("requirements.lock", ("local", "postgres")),
        ("requirements-dev.lock", ("local", "postgres", "dev")),
    ],
)
def test_the_lock_fits_the_declared_dependencies(lock: str, extras: tuple[str, ...]) -> None:
    pins = _pins(lock)
    unmet = [
        str(wanted)
        for wanted in _wanted(*extras)
        if not wanted.specifier.contains(pins.get(canonicalize_name(wanted.name), "0"))
    ]
    assert unmet == [], "run: make lock"


def test_both_locks_pin_the_same_versions() -> None:
    runtime, development = _pins("requirements.lock"), _pins("requirements-dev.lock")
    shared = runtime.keys() & development.keys()
    assert {name: runtime[name] for name in shared} == {name: development[name] for name in shared}
    assert runtime.keys() - development.keys() == {"editables"}


def test_every_pin_carries_a_hash() -> None:
    text = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8").replace("\\\n", "")
    pinned = [line for line in text.splitlines() if "==" in line and not line.startswith("#")]
    assert len(pinned) > 50
    assert [line for line in pinned if "--hash=sha256:" not in line] == []
