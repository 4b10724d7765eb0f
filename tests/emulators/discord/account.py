"""Requests about the bot itself, its channels, commands and interactions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.emulators.discord import errors
from tests.emulators.discord.errors import ApiError, invalid_form
from tests.emulators.discord.world import channel_object, stamp

if TYPE_CHECKING:
    from tests.emulators.discord.messages import Request
    from tests.emulators.discord.world import Channel, World

Json = dict[str, Any]


def me(request: Request) -> Json:
    return request.bot.user | {"mfa_enabled": False, "locale": "en-US", "email": None}


def application(request: Request) -> Json:
    owner = request.world.user("1")
    return {
        "id": request.bot.id,
        "name": request.bot.user["username"],
        "description": "",
        "icon": None,
        "bot_public": False,
        "bot_require_code_grant": False,
        "owner": owner,
        "verify_key": "0" * 64,
        "team": None,
        "flags": 0,
    }


def gateway(request: Request) -> Json:
    return {
        "url": request.world.address.replace("http", "ws", 1) + "/",
        "shards": 1,
        "session_start_limit": {
            "total": 1000,
            "remaining": max(0, request.bot.identifies_left),
            "reset_after": 14_400_000,
            "max_concurrency": 1,
        },
    }


def commands(request: Request) -> list[Json]:
    for command in request.body:
        if not re.fullmatch(r"[-_a-z0-9]{1,32}", command["name"]):
            raise invalid_form("name", "STRING_TYPE_REGEX", "String value did not match regex.")
        if not 1 <= len(command["description"]) <= 100:
            text = "Must be between 1 and 100 in length."
            raise invalid_form("description", "BASE_TYPE_BAD_LENGTH", text)
    request.bot.commands = [
        {"id": request.world.new_id(), "application_id": request.bot.id, "version": "1", **one}
        for one in request.body
    ]
    return request.bot.commands


def open_dm(request: Request) -> Json:
    return request.world.direct(request.bot, str(request.body["recipient_id"])).facts


def channel(request: Request) -> Json:
    return request.channel.facts


def member(request: Request) -> Json:
    guild, user = request.path["guild"], request.path["user"]
    if guild not in request.world.guilds or user not in request.world.users:
        raise ApiError(*errors.UNKNOWN_MEMBER)
    return request.world.member(guild, user) | {"user": request.world.user(user)}


def typing(request: Request) -> None:
    if request.channel.blocked:
        raise ApiError(*errors.BLOCKED)


def react(request: Request) -> None:
    emoji = {"id": None, "name": request.path["emoji"]}
    details = {"burst": 0, "normal": 1}
    reaction = {"emoji": emoji, "count": 1, "count_details": details, "me": True}
    rest = {"me_burst": False, "burst_colors": []}
    request.message().setdefault("reactions", []).append(reaction | rest)


def open_thread(request: Request) -> Json:
    message, parent = request.message(), request.channel
    thread = new_thread(
        request.world, parent, request.body["name"], request.bot.id, identity=message["id"]
    )
    request.gateway.announce("THREAD_CREATE", thread.facts | {"newly_created": True})
    return thread.facts


def respond(request: Request) -> Json | None:
    held = request.world.interactions.get(request.path["interaction"])
    if held is None or held.token != request.path["token"]:
        raise ApiError(*errors.UNKNOWN_INTERACTION)
    if held.answer is not None:
        raise ApiError(400, 40060, "Interaction has already been acknowledged.")
    held.answer = request.body
    if request.query.get("with_response", "") not in ("1", "true", "True"):
        return None
    told = {"response_message_id": None, "response_message_ephemeral": True}
    return {"interaction": {"id": held.id, "type": 2, "response_message_loading": True} | told}


def unrespond(request: Request) -> None:
    token = request.path["token"]
    held = [one for one in request.world.interactions.values() if one.token == token]
    if not held or held[0].answer is None:
        raise ApiError(*errors.UNKNOWN_WEBHOOK)
    held[0].deleted = True


def new_thread(
    world: World, parent: Channel, name: str, owner: str, *, identity: str | None = None
) -> Channel:
    """Register a public thread of ``parent``."""
    facts = channel_object(
        identity or world.new_id(),
        type=11,
        guild_id=parent.guild,
        name=name,
        parent_id=parent.id,
        owner_id=owner,
        message_count=0,
        member_count=2,
        thread_metadata={
            "archived": False,
            "auto_archive_duration": 1440,
            "archive_timestamp": stamp(),
            "locked": False,
        },
    )
    return world.add_channel(facts.pop("id"), **facts)
