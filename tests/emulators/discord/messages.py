"""Requests that write, read, change and remove messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.emulators.discord import errors
from tests.emulators.discord.errors import ApiError, invalid_form
from tests.emulators.discord.world import Channel, newest, stamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.emulators.discord.gateway import Gateway
    from tests.emulators.discord.world import Bot, World

Json = dict[str, Any]

LONGEST_TEXT = 2000
LONGEST_NONCE = 25
MOST_FILES = 10
LONGEST_LABEL = 80

_USER = re.compile(r"<@!?(\d+)>")
_ROLE = re.compile(r"<@&(\d+)>")
#: what Discord does not leave in the name of a bot's file
_ODD = re.compile(r"[^A-Za-z0-9._-]")
_EVERYONE = re.compile(r"@(?:everyone|here)")


@dataclass(frozen=True, slots=True)
class Request:
    """One authorised request; ``path`` are the ids in its address."""

    world: World
    gateway: Gateway
    bot: Bot
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any = None
    #: (name, content) of uploaded files
    files: tuple[tuple[str, bytes], ...] = field(default=())

    @property
    def channel(self) -> Channel:
        """The channel that the address names and the bot may look into."""
        return self.world.visible(self.bot, self.path["channel"])

    def message(self) -> Json:
        """Return the message that the address names."""
        message = self.channel.messages.get(self.path["message"])
        if message is None:
            raise ApiError(*errors.UNKNOWN_MESSAGE)
        return message


def mentioned(world: World, text: str, allowed: Json | None = None) -> Json:
    """Return the fields that name who is pinged; without ``allowed`` everybody may be."""
    users = [one for one in dict.fromkeys(_USER.findall(text)) if _may(allowed, "users", one)]
    roles = [one for one in dict.fromkeys(_ROLE.findall(text)) if _may(allowed, "roles", one)]
    everyone = bool(_EVERYONE.search(text)) and _may(allowed, "everyone", "")
    return {
        "mentions": [world.user(one) for one in users],
        "mention_roles": roles,
        "mention_everyone": everyone,
    }


def _may(allowed: Json | None, kind: str, identity: str) -> bool:
    if allowed is None:
        return True
    return kind in allowed.get("parse", ()) or identity in allowed.get(kind, ())


def shown(world: World, channel: Channel, message: Json) -> Json:
    """Return a message as the gateway shows it: with guild and member."""
    if channel.guild is None:
        return message
    extra: Json = {"guild_id": channel.guild}
    if "webhook_id" not in message:
        extra["member"] = world.member(channel.guild, message["author"]["id"])
    return message | extra


def create(request: Request) -> Json:
    channel = request.channel
    body = request.body
    _check_writable(channel)
    content = _checked_text(body, bare=not request.files)
    nonce = _checked_nonce(body)
    key = (request.bot.id, nonce)
    if nonce and body.get("enforce_nonce") and channel.nonces.get(key) in channel.messages:
        return channel.messages[channel.nonces[key]] | {"nonce": nonce}
    fields = {
        "content": content,
        "flags": body.get("flags", 0),
        "components": _checked_components(body),
        "attachments": _stored(request, channel),
        **mentioned(request.world, content, body.get("allowed_mentions")),
        **_reference(channel, body),
    }
    message = request.world.compose(channel, request.bot.user, fields)
    if nonce:
        channel.nonces[key] = message["id"]
    answer = message | ({"nonce": nonce} if nonce else {})
    _announce(request, channel, "MESSAGE_CREATE", answer)
    return answer


def edit(request: Request) -> Json:
    message, channel = request.message(), request.channel
    if message["author"]["id"] != request.bot.id:
        raise ApiError(*errors.FOREIGN_MESSAGE)
    content = _checked_text(request.body, bare=True)
    allowed = request.body.get("allowed_mentions")
    message.update(mentioned(request.world, content, allowed))
    message.update(content=content, edited_timestamp=stamp())
    if "components" in request.body:
        message["components"] = _checked_components(request.body)
    _announce(request, channel, "MESSAGE_UPDATE", message)
    return message


def delete(request: Request) -> None:
    message, channel = request.message(), request.channel
    if channel.guild is None and message["author"]["id"] != request.bot.id:
        raise ApiError(403, 50003, "Cannot execute action on a DM channel")
    del channel.messages[message["id"]]
    facts = {"id": message["id"], "channel_id": channel.id}
    guild = {} if channel.guild is None else {"guild_id": channel.guild}
    request.gateway.announce("MESSAGE_DELETE", facts | guild, owner=channel.owner)


def history(request: Request) -> list[Json]:
    """``after`` gives the oldest ones after it, but like all of them newest first."""
    limit = int(request.query.get("limit", "50"))
    if not 1 <= limit <= 100:
        raise invalid_form("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
    found = newest(request.channel.messages.values())
    if after := request.query.get("after"):
        found = [one for one in found if int(one["id"]) > int(after)]
        return found[-limit:]
    if before := request.query.get("before"):
        found = [one for one in found if int(one["id"]) < int(before)]
    return found[:limit]


def single(request: Request) -> Json:
    """Addresses of files are signed anew."""
    message = request.message()
    held = [message, *(each["message"] for each in message.get("message_snapshots", ()))]
    for file in (file for each in held for file in each.get("attachments", ())):
        file["url"] = address_of(request.world, file["url"], file["id"])
    return message


def _announce(request: Request, channel: Channel, kind: str, message: Json) -> None:
    data = shown(request.world, channel, message)
    request.gateway.announce(kind, data, owner=channel.owner)


def _check_writable(channel: Channel) -> None:
    if channel.blocked:
        raise ApiError(*errors.BLOCKED)
    if channel.facts.get("thread_metadata", {}).get("locked"):
        raise ApiError(*errors.LOCKED_THREAD)


def _checked_text(body: Json, *, bare: bool) -> str:
    content = body.get("content") or ""
    if len(content) > LONGEST_TEXT:
        text = "Must be 2000 or fewer in length."
        raise invalid_form("content", "BASE_TYPE_MAX_LENGTH", text)
    if bare and not content.strip():
        raise ApiError(*errors.EMPTY_MESSAGE)
    return str(content).strip()


def _checked_components(body: Json) -> list[Json]:
    rows: list[Json] = body.get("components") or []
    for button in (each for row in rows for each in row["components"]):
        if not 1 <= len(button["label"]) <= LONGEST_LABEL:
            where = "components.0.components.0.label"
            raise invalid_form(where, "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 80.")
    return rows


def _checked_nonce(body: Json) -> str:
    nonce = str(body.get("nonce") or "")
    if len(nonce) > LONGEST_NONCE:
        raise invalid_form("nonce", "NONCE_TYPE_TOO_LONG", "Value exceeds maximum length of 25.")
    return nonce


def _reference(channel: Channel, body: Json) -> Json:
    reference = body.get("message_reference")
    if reference is None:
        return {}
    target = channel.messages.get(str(reference["message_id"]))
    if target is None:
        if reference.get("fail_if_not_exists", True):
            raise invalid_form("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        return {}
    return reply_fields(channel, target)


def reply_fields(channel: Channel, target: Json) -> Json:
    """Return the fields of a message that answers ``target``."""
    reference = {"type": 0, "channel_id": channel.id, "message_id": target["id"]}
    guild = {} if channel.guild is None else {"guild_id": channel.guild}
    held = {key: value for key, value in target.items() if key != "referenced_message"}
    return {"type": 19, "message_reference": reference | guild, "referenced_message": held}


def _stored(request: Request, channel: Channel) -> list[Json]:
    if len(request.files) > MOST_FILES:
        raise invalid_form("attachments", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
    return [
        store_file(request.world, channel.id, _ODD.sub("_", name), content)
        for name, content in request.files
    ]


def store_file(world: World, channel: str, name: str, content: bytes) -> Json:
    """Keep a file and return it as an attachment, under an address that looks signed."""
    identity = world.new_id()
    world.files[identity] = (name, content)
    url = address_of(world, f"{world.address}/attachments/{channel}/{identity}/{name}", identity)
    return {
        "id": identity,
        "filename": name,
        "size": len(content),
        "url": url,
        "proxy_url": url,
    }


def address_of(world: World, address: str, identity: str) -> str:
    """Return a file's address under a signature that is good until ``expire``."""
    signed = signature(identity, world.signing_key)
    return f"{address.partition('?')[0]}?ex=69300000&is=692eae80&hm={signed}&"


def signature(identity: str, key: int) -> str:
    """Return what stands for the signature of an attachment's address."""
    return f"{(int(identity) + key) * 2_654_435_761 % 2**128:032x}"
