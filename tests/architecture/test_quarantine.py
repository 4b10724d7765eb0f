"""Foreign libraries stay in quarantine, decisions stay pure, manifests need no library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.architecture.quarantine import QUARANTINE, purity_faults, quarantine_faults
from tests.architecture.sources import PRODUCT, ROOT, modules, write_tree
from tests.architecture.startup import import_freshly, loaded

if TYPE_CHECKING:
    from pathlib import Path

MANIFESTS = [
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for file in sorted((ROOT / "adapters").glob("*/manifest.py"))
]
#: libraries that must not delay ``hermes-gateway --help``
SLOW = {
    *("alembic", "anthropic", "google", "markdown_it", "openai", "prompt_toolkit"),
    *("psycopg", "pydantic_ai", "sqlalchemy", "telegram", "watchfiles", "xllamacpp"),
    *(
        "aiohttp",
        "discord",
        "fastapi",
        "honcho",
        "slack_bolt",
        "slack_sdk",
        "starlette",
        "uvicorn",
    ),
}


def test_libraries_stay_in_quarantine() -> None:
    assert quarantine_faults(modules(ROOT, *PRODUCT)) == []


def test_model_policies_and_text_are_pure() -> None:
    assert purity_faults(modules(ROOT, *PRODUCT)) == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("gateway/pipeline/a.py", "import telegram.ext"),
        ("adapters/telegram/a.py", "from slack_bolt.async_app import AsyncApp"),
        ("gateway/memory/a.py", "def f():\n    from honcho import Honcho"),
        ("gateway/pipeline/b.py", "from sqlalchemy import select"),
        ("gateway/mailbox/a.py", "import procrastinate"),
        ("gateway/settings/a.py", "if TYPE_CHECKING:\n    import pydantic_ai"),
    ],
)
def test_the_checker_sees_an_escape(tmp_path: Path, path: str, source: str) -> None:
    (fault,) = quarantine_faults(modules(write_tree(tmp_path, {path: source}), *PRODUCT))
    assert fault.startswith(f"{path}:")


def test_libraries_are_welcome_where_they_belong(tmp_path: Path) -> None:
    tree = {
        "adapters/telegram/sink.py": "import telegram",
        "gateway/store/tables.py": "import sqlalchemy\nimport alembic.config",
        "gateway/agent/run.py": "import pydantic_ai.models.openai",
        "gateway/policy/telegrams.py": "from pathlib import PurePath",
    }
    found = modules(write_tree(tmp_path, tree), *PRODUCT)
    assert (quarantine_faults(found), purity_faults(found)) == ([], [])


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("gateway/policy/a.py", "import time"),
        ("gateway/policy/a.py", "from os import environ"),
        ("gateway/policy/a.py", "import pathlib"),
        ("gateway/policy/a.py", "from pathlib import Path"),
        ("gateway/text/a.py", "import pydantic"),
        ("gateway/model/a.py", "import logging"),
    ],
)
def test_the_checker_sees_impurity(tmp_path: Path, path: str, source: str) -> None:
    (fault,) = purity_faults(modules(write_tree(tmp_path, {path: source}), *PRODUCT))
    assert fault.startswith(f"{path}:1:")


def test_there_are_manifests() -> None:
    assert {"adapters.console.manifest", "adapters.telegram.manifest"} <= set(MANIFESTS)


def test_manifests_need_no_foreign_library() -> None:
    result = import_freshly(*MANIFESTS, without=QUARANTINE)
    assert result.returncode == 0, result.stderr


def test_a_blocked_library_is_really_missing(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {"greedy.py": "import telegram"})
    result = import_freshly("greedy", without=QUARANTINE, root=root)
    assert result.returncode == 1
    assert "blocked: telegram" in result.stderr


def test_the_commands_start_without_the_slow_libraries() -> None:
    assert loaded("gateway.cli.main", "gateway.app.loading") & SLOW == set()


def test_a_slow_start_is_seen(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {"greedy.py": "import sqlalchemy"})
    assert loaded("greedy", root=root) & SLOW == {"sqlalchemy"}
