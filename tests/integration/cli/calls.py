"""Commands, called as from a shell."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner

from gateway.cli.main import cli


def run(*words: str, code: int = 0) -> str:
    """Return all that a command says; it must end with this exit code."""
    result = CliRunner().invoke(cli, list(words))
    assert result.exit_code == code, result.output
    return result.output


def data(*words: str) -> Any:
    """Return what a command prints with ``--json``."""
    result = CliRunner().invoke(cli, [*words, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)
