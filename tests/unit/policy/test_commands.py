"""What is a command, and whose (H-45)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.model.events import Command
from gateway.policy.commands import KNOWN, parse_command


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/new", Command("new")),
        ("/new@brook_bot", Command("new")),
        ("/NEW@Brook_Bot", Command("new")),
        ("/new@brook_bot extra words", Command("new", "extra words")),
        ("/title Trip\nto Zoë ", Command("title", "Trip\nto Zoë")),
        ("/search  two  words", Command("search", "two  words")),
        ("/newer", Command("newer")),
        ("/new\n", Command("new")),
        (" /new", Command("new")),
        ("text /new", None),
        ("//new", None),
        ("/", None),
        ("/ new", None),
        ("/new@", None),
        ("/new@brook_bot/x", None),
        ("/etc/hosts", None),
        ("/new, please", None),
        ("", None),
    ],
)
def test_commands(text: str, command: Command | None) -> None:
    assert parse_command(text, bot_username="brook_bot") == (command, False)
    assert parse_command(text, bot_username="@Brook_Bot") == (command, False)


@pytest.mark.parametrize("text", ["/new@other_bot", "/new@brook_bot2 x", "/NEW@OTHER_BOT"])
def test_a_command_for_another_bot_is_neither_command_nor_text(text: str) -> None:
    assert parse_command(text, bot_username="brook_bot") == (None, True)


def test_where_bots_have_no_username() -> None:
    assert parse_command("/new", bot_username="") == (Command("new"), False)
    assert parse_command("/new@brook_bot", bot_username="") == (None, True)


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    command, foreign = parse_command(text, bot_username="brook_bot")
    assert not (command and foreign)
    if command is not None:
        assert text.strip().lower().startswith(f"/{command.name}")
        assert text.rstrip().endswith(command.args)


def test_the_known_commands() -> None:
    assert all(name == spec.name for name, spec in KNOWN.items())
    assert {name for name, spec in KNOWN.items() if spec.admin} == {"approve", "deny", "who"}
    assert {name for name, spec in KNOWN.items() if spec.ordered} == {"new", "title"}
    everybody = " ".join(name for name, spec in KNOWN.items() if not spec.admin)
    assert everybody == (
        "start help new stop status whoami title memory search link unlink trace export forget"
    )
