"""With the small local model, where its weights are on this machine: the person is known in the
next session, and nothing was invented.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from gateway.agent import local
from gateway.agent.weights import SMALL, WeightStore, default_folder

if TYPE_CHECKING:
    from pathlib import Path

SAID = "My name is Ada. I live in Lisbon. My dog is called Rex."


@pytest.mark.weights
@pytest.mark.timeout(300)
def test_known_in_the_next_session_and_nothing_invented(tmp_path: Path) -> None:
    if WeightStore(default_folder()).selected(SMALL.sha256) is None or not local.available():
        pytest.skip("no weights on this machine")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "honcho.json").write_text('{"peerName": "ada"}')
    (home / "config.yaml").write_text(
        f"model: {{provider: local, name: {SMALL.name}}}\nembeddings: {{provider: 'off'}}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "gateway.cli.main", "chat"],
        input=f"{SAID}\n/new\nWhat is my dog called?\n".encode(),
        env={
            **os.environ,
            "HERMES_HOME": str(home),
            "HERMES_MODELS": str(default_folder()),
        },
        capture_output=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "Rex" in done.stdout.decode().splitlines()[-1]
    with closing(sqlite3.connect(home / "gateway" / "gateway.db")) as conn:
        concluded = conn.execute(
            "SELECT c.content, c.origin, m.content FROM memory_conclusion c"
            " JOIN memory_evidence e ON e.conclusion = c.id"
            " JOIN memory_message m ON m.id = e.message JOIN memory_pair p ON p.id = c.pair"
            " WHERE p.observed = 'ada'"
        ).fetchall()
    assert {text for text, _, _ in concluded} >= set(SAID.replace(". ", ".|").split("|"))
    assert all(origin == "rule" and text in message for text, origin, message in concluded)
