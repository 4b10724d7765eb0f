"""The wizard with menus, without a terminal, and with Ctrl-C as people press it."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from gateway.cli.main import cli
from tests.integration.setup.operator import contents

if TYPE_CHECKING:
    from gateway.settings.home import Home
    from tests.integration.setup.operator import Operator

DOWN, CTRL_C = "\x1b[B", "\x03"


async def test_menus_are_moved_through_by_arrow_keys(
    home: Home, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("PROMPT_TOOLKIT_NO_CPR", "1")
    home.path.mkdir(mode=0o700)
    home.config.write_text("platforms: {telegram: {base_url: 'http://127.0.0.1:9/bot'}}\n")
    await operator.run("setup", "--json")
    for question, keys in (
        ("Your name?", "\r"),
        ("Which model shall answer?", f"{DOWN}\r"),
        ("Telegram?", "y"),
        ("Bot token?", "123:abc\r"),
        ("What now?", f"{DOWN}{DOWN}\r"),
        ("Who may write", "7, 8\r"),
        ("Who is admin", "\r"),
        ("Discord?", "n"),
        ("Slack?", "n"),
        ("Where shall memory be kept?", "\r"),
        ("Who talks to this gateway?", "\r"),
        ("Save this?", "y"),
    ):
        await operator.sees(question)
        operator.person.type(keys)
    await operator.ends()
    assert contents(home.path) == {
        ".env": "TELEGRAM_BOT_TOKEN=123:abc\n",
        "config.yaml": (
            "platforms: {telegram: {base_url: 'http://127.0.0.1:9/bot'}}\n"
            'access:\n  allow:\n    telegram: ["7", "8"]\n'
            "conversations:\n  audience: open\n"
        ),
        "honcho.json": (
            '{\n  "hosts": {\n    "hermes": {\n      "peerName": "ada",\n'
            '      "pinUserPeer": true\n    }\n  }\n}\n'
        ),
    }
    assert "123:abc" not in operator.raw


async def test_ctrl_c_in_a_menu_saves_nothing(
    home: Home, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("PROMPT_TOOLKIT_NO_CPR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    await operator.run("memory", "setup")
    await operator.sees("Where shall memory be kept?")
    operator.person.type(CTRL_C)
    assert "Stopped. Nothing was saved." in await operator.ends(1)
    assert not home.path.exists()


@pytest.mark.parametrize("colour", [{"NO_COLOR": "1"}, {}], ids=["NO_COLOR", "--plain"])
async def test_whoever_asks_for_plain_lines_gets_them(
    home: Home, operator: Operator, monkeypatch: pytest.MonkeyPatch, colour: dict[str, str]
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in colour.items():
        monkeypatch.setenv(name, value)
    await operator.run("setup", *([] if colour else ["--plain"]))
    await operator.answers("Your name? Enter means ada.", "Ada")
    await operator.hears("Which model shall answer?", end="> ")
    await operator.leaves()
    await operator.ends(1)
    assert "\x1b" not in operator.raw


async def test_a_home_that_cannot_be_read_is_named_and_left_alone(
    home: Home, operator: Operator
) -> None:
    home.path.mkdir(mode=0o700)
    (home.path / "honcho.json").write_text('{"pinUserPeer": "maybe"}')
    await operator.run("setup")
    await operator.answers("Mend that, and go on?", "n")
    said = await operator.ends(2)
    assert "honcho.json:1: pinUserPeer: maybe is not a switch" in said
    assert "mend these lines, then run it again" in said
    assert contents(home.path) == {"honcho.json": '{"pinUserPeer": "maybe"}'}


@pytest.mark.parametrize("command", ["status", "doctor"])
def test_a_home_without_platforms_is_told_of_the_wizard(home: Home, command: str) -> None:
    said = CliRunner().invoke(cli, [command]).stdout
    assert "only the console; hermes-gateway setup connects Telegram, Discord or Slack" in said
    if command == "doctor":
        assert "hermes-gateway setup chooses one" in said


@pytest.mark.parametrize("words", ["setup", "memory setup", "memory setup honcho"])
def test_without_a_terminal_the_way_is_said(home: Home, words: str) -> None:
    done = CliRunner().invoke(cli, words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "There is no terminal to ask on. Write the answers into a file and run: "
        f"hermes-gateway {words} --answers FILE (docs/setup.md lists them)\n"
    )
    assert not home.path.exists()


def test_ctrl_c_ends_a_real_process_and_leaves_the_terminal_as_it_was(home: Home) -> None:
    """A secret is being typed, unseen, when the signal comes."""
    home.path.mkdir(mode=0o700)
    (home.path / "honcho.json").write_text('{"pinPeerName": false}')
    master, slave = os.openpty()

    def own_terminal() -> None:
        # a test run in the background ignores it, and that is inherited
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    before = termios.tcgetattr(slave)
    process = subprocess.Popen(
        [sys.executable, "-m", "gateway.cli.main", "memory", "setup", "honcho"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=own_terminal,
    )
    try:
        _until(master, "Where shall memory be kept?")
        os.write(master, b"1\n")
        _until(master, "Honcho API key?")
        os.write(master, b"secret\x03")
        assert process.wait(30) == 1
    finally:
        process.kill()
    assert "Stopped. Nothing was saved." in _until(master, "saved.")
    assert termios.tcgetattr(slave) == before
    os.close(slave)
    os.close(master)
    assert contents(home.path) == {"honcho.json": '{"pinPeerName": false}'}


def _until(master: int, words: str) -> str:
    """Read until words and the prompt behind them were shown."""
    shown, end = "", time.monotonic() + 30
    while words not in shown:
        assert time.monotonic() < end, shown
        ready, _, _ = select.select([master], [], [], 1)
        if ready:
            shown += os.read(master, 4096).decode()
    return shown
