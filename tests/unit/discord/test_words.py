"""The bot's mention goes once, by its place; whatever merely looks like one stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.fields import Fields
from adapters.discord.words import Words, read_words
from tests.unit.discord.events import ANN, GATE, ROLE, around, message


def words(content: str, *, people: bool = True, roles: tuple[str, ...] = ()) -> Words:
    data = message(content, mentions=[GATE, ANN] if people else [], mention_roles=list(roles))
    return read_words(Fields.of(data, "message"), around())


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<@111> deploy?", "deploy?"),
        ("<@!111> deploy?", "deploy?"),
        ("deploy <@111> now", "deploy now"),
        ("deploy <@111>", "deploy"),
        ("deploy<@111>now", "deploynow"),
        ("(<@111>)", "()"),
        ("<@111>", ""),
        ("<@111> <@111> twice", "@gate twice"),
        ("<@111> ask <@42>", "ask @Ann"),
        ("<@42> <@111>", "@Ann"),
        ("`<@111>` <@111> x", "`<@111>` x"),
        ("```\n<@111>\n``` <@111>", "```\n<@111>\n```"),
        ("<@1112> <@111>", "<@1112>"),
        ("@gate <@111>", "@gate"),
        ("<@111> <:party:55> <a:wave:56>", ":party: :wave:"),
        ("<@111> <#901> <@&5>", "<#901> <@&5>"),
        ("<@111>\nnext line", "next line"),
    ],
)
def test_one_mention_goes(content: str, text: str) -> None:
    assert words(content) == Words(text, mentioned=True)


def test_what_discord_does_not_list_is_no_mention() -> None:
    assert words("<@111> hello", people=False) == Words("<@111> hello", mentioned=False)


def test_the_bots_own_role_stands_for_it() -> None:
    found = words(f"<@&{ROLE}> hey", people=False, roles=(ROLE,))
    assert found == Words("hey", mentioned=True)
    assert not words("<@&5> hey", people=False, roles=("5",)).mentioned


def test_a_pinged_reply_mentions_without_words() -> None:
    assert words("yes") == Words("yes", mentioned=True)


@given(before=st.text(alphabet="ab \n<>@1`", max_size=12), after=st.text(max_size=12))
def test_nothing_but_the_mention_goes(before: str, after: str) -> None:
    found = words(f"{before}<@111>{after}", people=True)
    kept = "".join((before + after).split()).replace("\0", "")
    shown = "".join(found.text.split())
    if not any(mark in before + after for mark in "<`"):
        assert shown.encode("utf-16", "replace") == kept.encode("utf-16", "replace")
