"""Asks a fresh interpreter what importing a module brings in, or whether it works without."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.architecture.sources import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_PROGRAM = """
import importlib, json, sys

names, blocked = json.loads(sys.argv[1])

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in blocked:
            raise ModuleNotFoundError(f"blocked: {name}", name=name)

sys.meta_path.insert(0, Block())
for name in names:
    importlib.import_module(name)
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""


def import_freshly(
    *names: str, without: Iterable[str] = (), root: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Import ``names`` in a new interpreter in which importing ``without`` fails.

    Standard output holds the top-level modules that were loaded, as JSON.
    """
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM, json.dumps([names, list(without)])],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def loaded(*names: str, root: Path = ROOT) -> set[str]:
    """Return the top-level modules that importing ``names`` loads."""
    result = import_freshly(*names, root=root)
    if result.returncode:
        raise ImportError(result.stderr)
    return set(json.loads(result.stdout))
