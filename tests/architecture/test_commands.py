"""Every command is on its page, speaks JSON, and works on any profile."""

from __future__ import annotations

from tests.architecture.commands_page import PAGE, leaves, options, page

#: they converse
SPEAKS_NO_JSON = {"run", "chat"}
#: what operators of a Honcho expect to find
HONCHO = (
    *("status", "setup", "strategy", "peer", "mode", "tokens", "identity", "sync", "peers"),
    *("sessions", "map", "enable", "disable", "migrate"),
)


def test_the_page_of_commands_is_what_the_command_line_says() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "write it anew: python -m tests.architecture.commands_page"


def test_every_command_but_the_conversations_prints_json() -> None:
    assert {name for name, each in leaves() if "--json" not in options(each)} == SPEAKS_NO_JSON


def test_every_command_works_on_any_profile() -> None:
    assert [name for name, each in leaves() if "--profile" not in options(each)] == []


def test_the_honcho_commands_are_all_there() -> None:
    named = {name.removeprefix("honcho ") for name, _ in leaves() if name.startswith("honcho ")}
    assert named == set(HONCHO)


def test_every_command_says_what_it_does() -> None:
    assert [name for name, each in leaves() if not (each.help or "").strip()] == []
