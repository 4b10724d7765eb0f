"""What the gateway tells about guilds: threads know their channel, the bot its roles."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.discord.directory import Channel, Directory
from gateway.text.fields import ParseError
from tests.unit.discord.events import GUILD, ME

TEXT: dict[str, Any] = {"id": "901", "type": 0, "name": "general", "parent_id": "950"}
THREAD: dict[str, Any] = {"id": "905", "type": 11, "name": "topic", "parent_id": "901"}


def guild(**fields: Any) -> dict[str, Any]:
    return {"id": GUILD, "channels": [TEXT], "threads": [THREAD], "roles": [], **fields}


def test_a_category_is_no_parent() -> None:
    directory = Directory(ME)
    assert directory.learn("GUILD_CREATE", guild()) == [
        Channel("901", GUILD, "general"),
        Channel("905", GUILD, "topic", parent="901"),
    ]
    assert directory.find("905") == Channel("905", GUILD, "topic", parent="901")


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("THREAD_CREATE", THREAD | {"guild_id": GUILD}),
        ("THREAD_UPDATE", THREAD | {"guild_id": GUILD}),
        ("THREAD_LIST_SYNC", {"guild_id": GUILD, "threads": [THREAD]}),
    ],
)
def test_later_threads_are_learnt(kind: str, data: dict[str, Any]) -> None:
    directory = Directory(ME)
    directory.learn(kind, data)
    assert directory.around("905").channel == Channel("905", GUILD, "topic", parent="901")


def test_the_bots_own_roles() -> None:
    directory = Directory(ME)
    mine = {"id": "777", "name": "gate", "tags": {"bot_id": "111"}}
    other = {"id": "778", "name": "other", "tags": {"bot_id": "112"}}
    directory.learn("GUILD_CREATE", guild(roles=[mine, other, {"id": "779"}]))
    assert directory.around(None).own_roles == {"777"}
    directory.learn("GUILD_ROLE_CREATE", {"guild_id": GUILD, "role": mine | {"id": "780"}})
    assert directory.around(None).own_roles == {"777", "780"}


def test_a_guild_that_is_away_teaches_nothing() -> None:
    directory = Directory(ME)
    assert directory.learn("GUILD_CREATE", {"id": GUILD, "unavailable": True}) == []
    assert directory.learn("CHANNEL_CREATE", {"id": "842", "type": 1}) == []
    assert directory.learn("TYPING_START", {}) == []


def test_what_is_odd_teaches_nothing() -> None:
    directory = Directory(ME)
    with pytest.raises(ParseError):
        directory.learn("GUILD_CREATE", guild(threads=[{"id": "905", "type": 11}]))
    assert directory.find("901") is None
