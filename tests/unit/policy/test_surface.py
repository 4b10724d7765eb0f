"""The command surface: only what there is, and never more than 300 characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.surface import IN_CHATS, ON_THE_COMMAND_LINE, surface


def test_a_chat_is_told_its_own_commands() -> None:
    text = surface("telegram-1", "hybrid", chat=["start", "title", "memory", "search", "new"])
    assert text == (
        "Memory session telegram-1, recall mode hybrid."
        " The person can send /memory | /search | /title."
    )


def test_the_command_line_is_told_to_whoever_has_it() -> None:
    there = {"run": (), "search": (), "memory": ("status", "peers"), "honcho": ("mode",)}
    text = surface("s", "tools", chat=["memory"], terminal=there)
    assert text.endswith(
        "/memory. On the command line: hermes-gateway memory status/peers | search | honcho mode."
    )


def test_what_is_below_a_command_is_told_where_there_is_room_honcho_first() -> None:
    below = {"search": (), "memory": ("flush",) * 9, "honcho": ("sessions",) * 9}
    text = surface("s" * 60, "hybrid", chat=IN_CHATS, terminal=below)
    assert len(text) > 290
    assert " memory | search | honcho sessions/sessions/" in text
    full = surface("s" * 100, "hybrid", chat=IN_CHATS, terminal=dict.fromkeys(below, ("x" * 90,)))
    assert full.endswith(" memory | search | honcho.")


def test_without_commands_only_the_session_is_told() -> None:
    assert surface("s", "context", chat=[]) == "Memory session s, recall mode context."


@given(st.text("abc-_", max_size=400), st.sets(st.sampled_from(IN_CHATS)))
def test_it_fits_whatever_the_names(session: str, chat: set[str]) -> None:
    there = dict.fromkeys(ON_THE_COMMAND_LINE, ("status", "peers"))
    text = surface(session, "hybrid", chat=chat, terminal=there)
    assert len(text) <= 300
    assert all(f"/{name}" not in text for name in set(IN_CHATS) - chat)
