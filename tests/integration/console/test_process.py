"""The console on the standard streams of a real process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = [sys.executable, "-m", "tests.integration.console.program"]


def run_shell(command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell line in which ``$CHAT`` is the console."""
    return subprocess.run(
        ["bash", "-c", command],
        input=b"",
        capture_output=True,
        cwd=ROOT,
        env=os.environ | {"CHAT": " ".join(PROGRAM)},
        timeout=50,
        check=False,
    )


def test_a_pipe_ends_with_exit_code_0_and_answers_alone_on_standard_output() -> None:
    done = run_shell(r"printf 'hello\n/new\nthere' | $CHAT; echo code=$?")
    assert done.stdout == b"echo: hello\necho: /new\necho: there\ncode=0\n"
    assert done.stderr == b"input: stream\n"


def test_a_reader_that_goes_away_leaves_no_trace() -> None:
    done = run_shell(r"printf '1\n2\n3\n' | $CHAT | head -1; echo ${PIPESTATUS[*]}")
    assert done.stdout == b"echo: 1\n0 0 0\n"
    assert done.stderr == b"input: stream\n"


@pytest.mark.parametrize("streams", ["</dev/null", "<&- >&- 2>&-"])
def test_without_input_it_runs_until_a_signal(streams: str) -> None:
    done = run_shell(f"timeout -s TERM 1.5 $CHAT {streams}; echo code=$?")
    assert done.stdout == b"code=124\n"
    assert done.stderr in (b"input: off\n", b"")
