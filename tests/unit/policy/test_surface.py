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
    text = surface("s", "tools", chat=["memory"], terminal=["run", "memory", "search"])
    assert text.endswith("/memory. On the command line: hermes-gateway memory | search.")


def test_without_commands_only_the_session_is_told() -> None:
    assert surface("s", "context", chat=[]) == "Memory session s, recall mode context."


@given(st.text("abc-_", max_size=400), st.sets(st.sampled_from(IN_CHATS)))
def test_it_fits_whatever_the_names(session: str, chat: set[str]) -> None:
    text = surface(session, "hybrid", chat=chat, terminal=ON_THE_COMMAND_LINE)
    assert len(text) <= 300
    assert all(f"/{name}" not in text for name in set(IN_CHATS) - chat)
