"""Imports of the product point downward; the checker sees each way in which they might not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.architecture.layers import cycle, layer_faults
from tests.architecture.sources import PRODUCT, ROOT, modules, write_tree

if TYPE_CHECKING:
    from pathlib import Path


def test_the_product_imports_downward_only() -> None:
    assert layer_faults(modules(ROOT, *PRODUCT)) == []


def test_the_product_has_no_import_cycle() -> None:
    assert cycle(modules(ROOT, *PRODUCT)) == []


@pytest.mark.parametrize(
    ("path", "source", "fault"),
    [
        (
            "gateway/model/a.py",
            "import gateway.store.tables",
            "imports upward: gateway.store.tables",
        ),
        ("gateway/store/a.py", "from gateway.settings import read", "neighbour gateway.settings"),
        ("gateway/policy/a.py", "from gateway import text", "neighbour gateway.text"),
        ("adapters/slack/a.py", "import adapters.console", "neighbour adapters.console"),
        ("gateway/agent/a.py", "def f():\n    import gateway.app", "imports upward: gateway.app"),
        (
            "gateway/model/a.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gateway.ports import X",
            "imports upward: gateway.ports",
        ),
        (
            "gateway/ports.py",
            "import importlib\nimportlib.import_module('gateway.cli.main')",
            "imports upward: gateway.cli.main",
        ),
        ("gateway/pipeline/a.py", "from ..cli import main", "imports upward: gateway.cli"),
        ("gateway/helpers.py", "import gateway.model", "gateway.helpers has no row"),
    ],
)
def test_the_checker_sees(tmp_path: Path, path: str, source: str, fault: str) -> None:
    packages = {"gateway/text/__init__.py": "", "gateway/settings/read.py": ""}
    found = modules(write_tree(tmp_path, {**packages, path: source}), *PRODUCT)

    (line,) = layer_faults(found)

    assert line.startswith(f"{path}:")
    assert fault in line


def test_the_checker_lets_downward_imports_pass(tmp_path: Path) -> None:
    tree = {
        "gateway/__init__.py": "__version__ = '1'",
        "gateway/model/ids.py": "",
        "gateway/pipeline/turn.py": "import gateway\nfrom gateway.model import ids\nimport os",
        "adapters/slack/sink.py": "from adapters.slack import errors\nimport gateway.ports",
        "adapters/slack/errors.py": "",
    }
    assert layer_faults(modules(write_tree(tmp_path, tree), *PRODUCT)) == []


def test_the_checker_sees_a_cycle_behind_type_checking(tmp_path: Path) -> None:
    tree = {
        "gateway/store/a.py": "from gateway.store import b",
        "gateway/store/b.py": "from gateway.store.c import x",
        "gateway/store/c.py": (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import gateway.store.a"
        ),
    }
    assert set(cycle(modules(write_tree(tmp_path, tree), *PRODUCT))) == {
        "gateway.store.a",
        "gateway.store.b",
        "gateway.store.c",
    }
