"""Discord's REST API for one bot, by discord.py; every failure is a PlatformError."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import discord
from discord.http import Route, handle_message_parameters

from adapters.discord.errors import translated
from adapters.discord.rest import Rest
from gateway.model.choice import Tone
from gateway.model.errors import CredentialsError, Disposition, PlatformError
from gateway.model.ids import MessageId

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from adapters.discord.fields import Fields
    from gateway.model.choice import Choice
    from gateway.model.ids import AccountId, PlaceId

#: Seconds for one call. Longer than the library's first two tries after an outage.
PATIENCE = 15.0
#: a preview or a typing sign that comes late is worth nothing
BRIEF = 4.0
MOST_MESSAGES = 100

_SILENT = discord.MessageFlags(suppress_notifications=True).value
_EPHEMERAL = discord.MessageFlags(ephemeral=True).value
_DEFERRED = 5
_UPDATED_LATER = 6
_ROW, _BUTTON = 1, 2
_STYLES = {Tone.PLAIN: 2, Tone.GOOD: 3, Tone.BAD: 4}


@dataclass(frozen=True, slots=True)
class Draft:
    """One message as it will be posted. ``text`` stays out of ``repr``."""

    place: PlaceId
    text: str = field(repr=False)
    #: at most 25 characters: for minutes, a second message with it is the first one
    nonce: str
    reply_to: MessageId | None = None
    #: nobody's telephone rings
    silent: bool = False
    choice: Choice | None = None
    #: (name, content) of the file that the message is
    file: tuple[str, bytes] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Sent:
    """Discord's answer to a send."""

    message: MessageId
    #: it stands as an answer to the message that the draft named
    replied: bool


@dataclass(frozen=True, slots=True)
class SessionLimit:
    """How many sessions Discord lets this bot open before ``reset_after`` seconds are over."""

    remaining: int
    reset_after: float


def quiet_library() -> None:
    """Keep discord.py's records, which hold messages, out of every log but for errors."""
    logging.getLogger("discord").setLevel(logging.ERROR)


class Client:
    """Calls of one bot. Safe for concurrent use; ``aclose`` ends every connection."""

    def __init__(
        self, token: str, account: AccountId, api_base: str, *, patience: float = PATIENCE
    ) -> None:
        quiet_library()
        self._token = token
        self._account = account
        self._api_base = api_base
        self._patience = patience
        self._rest: Rest | None = None
        self._login = asyncio.Lock()

    async def rest(self) -> Rest:
        """Return the library's client, logged in. Raises ``CredentialsError``."""
        async with self._login:
            if self._rest is None:
                self._rest = await self._logged_in()
        return self._rest

    async def name(self) -> str:
        """Return the bot's present name."""
        answer = await self._call(lambda rest: rest.request(Route("GET", "/users/@me")))
        with translated():
            return str(answer["username"])

    async def send(self, draft: Draft, *, patience: float | None = None) -> Sent:
        """Post one message that pings nobody and shows no link's preview.

        Raises ``AmbiguousSendError`` when Discord may have posted it: with the same nonce it
        can be sent again.
        """
        form = _form(draft)
        answer = await self._call(
            lambda rest: rest.request(_messages("POST", draft.place), **form),
            patience=patience,
            sending=True,
        )
        with translated(sending=True):
            reference = answer.get("message_reference") or {}
            replied = str(reference.get("message_id")) == draft.reply_to
            return Sent(MessageId(str(answer["id"])), replied=replied)

    async def edit(self, place: PlaceId, message: MessageId, text: str) -> None:
        """Change an own message; it pings nobody either, and its buttons go."""
        payload = _message(text, flags=discord.MessageFlags(suppress_embeds=True))
        payload["components"] = []
        route = _messages("PATCH", place, message)
        await self._call(lambda rest: rest.request(route, json=payload), patience=BRIEF)

    async def delete(self, place: PlaceId, message: MessageId) -> None:
        """Remove an own message."""
        await self._call(lambda rest: rest.delete_message(place, message), patience=BRIEF)

    async def typing(self, place: PlaceId) -> None:
        """Show "is typing…" for about ten seconds."""
        await self._call(lambda rest: rest.send_typing(place), patience=BRIEF)

    async def history(self, place: str, after: str) -> list[object]:
        """Return the first hundred messages after an id, oldest first, as Discord shows them."""
        answer = await self._call(lambda rest: rest.logs_from(place, MOST_MESSAGES, after=after))
        if not isinstance(answer, list):
            raise PlatformError(
                "Discord's answer is no list of messages",
                code="unreadable",
                disposition=Disposition.RETRY,
            )
        return answer[::-1]

    async def message(self, place: PlaceId, message: MessageId) -> object:
        """Return one message as it is now, with fresh addresses of its files."""
        route = _messages("GET", place, message)
        return await self._call(lambda rest: rest.request(route))

    async def channel(self, channel: str) -> object:
        """Return a channel object."""
        return await self._call(lambda rest: rest.get_channel(channel))

    async def member(self, guild: str, user: str) -> object:
        """Return a member object."""
        return await self._call(lambda rest: rest.get_member(guild, user))

    async def session_limit(self) -> SessionLimit:
        """Return how many sessions may still be opened; asking costs none."""
        answer = await self._call(lambda rest: rest.request(Route("GET", "/gateway/bot")))
        with translated():
            limit = answer["session_start_limit"]
            return SessionLimit(limit["remaining"], limit["reset_after"] / 1000)

    async def set_commands(self, commands: Sequence[tuple[str, str]]) -> None:
        """Show ``(name, description)`` pairs in Discord's menu; each takes optional words."""
        words = {"type": 3, "name": "text", "description": "…", "required": False}
        payload = [
            {"type": 1, "name": name, "description": description[:100], "options": [words]}
            for name, description in commands
        ]
        await self._call(lambda rest: rest.bulk_upsert_global_commands(self._account, payload))

    async def acknowledge(self, interaction: str, token: str) -> None:
        """Take note of a slash command: the answer comes as an ordinary message."""
        accept = _callback(interaction, token)
        remove = Route(
            "DELETE",
            "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
            webhook_id=self._account,
            webhook_token=token,
        )
        deferred = {"type": _DEFERRED, "data": {"flags": _EPHEMERAL}}
        await self._call(lambda rest: rest.request(accept, json=deferred), patience=BRIEF)
        await self._call(lambda rest: rest.request(remove), patience=BRIEF)

    async def hear(self, interaction: str, token: str) -> None:
        """Take note of a pressed button: what stands over it is changed later, or not at all."""
        route = _callback(interaction, token)
        later = {"type": _UPDATED_LATER}
        await self._call(lambda rest: rest.request(route, json=later), patience=BRIEF)

    async def aclose(self) -> None:
        """Close all connections, also of a login under way; a later call opens new ones."""
        async with self._login:
            rest, self._rest = self._rest, None
        if rest is not None:
            await rest.close()

    async def _call(
        self,
        work: Callable[[Rest], Awaitable[Any]],
        *,
        patience: float | None = None,
        sending: bool = False,
    ) -> Any:
        rest = await self.rest()
        with translated(sending=sending):
            async with asyncio.timeout(self._patience if patience is None else patience):
                return await work(rest)

    async def _logged_in(self) -> Rest:
        rest = Rest(self._api_base, asyncio.get_running_loop())
        try:
            with translated():
                async with asyncio.timeout(self._patience):
                    user = await rest.static_login(self._token)
                self._check(str(user["id"]))
        except BaseException:
            await rest.close()
            raise
        return rest

    def _check(self, account: str) -> None:
        if account != self._account:
            raise CredentialsError(
                f"the token is bot {self._account}'s, but Discord takes it for bot {account}'s: "
                "copy it again into DISCORD_BOT_TOKEN"
            )


def is_silent(message: Fields) -> bool:
    """Tell whether a message was posted with ``silent``."""
    return bool(message.code("flags") & _SILENT)


def _form(draft: Draft) -> dict[str, Any]:
    """Return what ``Rest.request`` sends of a draft: JSON, or a form where there is a file."""
    flags = discord.MessageFlags(suppress_embeds=True, suppress_notifications=draft.silent)
    payload = _message(draft.text, flags=flags, nonce=draft.nonce)
    if draft.choice is not None:
        payload["components"] = _buttons(draft.choice)
    if draft.reply_to is not None and draft.reply_to.isdecimal():
        payload["message_reference"] = {
            "message_id": draft.reply_to,
            "fail_if_not_exists": False,
        }
    if draft.file is None:
        return {"json": payload}
    name, content = draft.file
    payload["attachments"] = [{"id": 0, "filename": name}]
    fields = [
        {"name": "payload_json", "value": json.dumps(payload)},
        {
            "name": "files[0]",
            "value": content,
            "filename": name,
            "content_type": "application/octet-stream",
        },
    ]
    return {"form": fields}


def _message(
    text: str, *, flags: discord.MessageFlags, nonce: str | None = None
) -> dict[str, Any]:
    parameters = handle_message_parameters(
        content=text, flags=flags, nonce=nonce, allowed_mentions=discord.AllowedMentions.none()
    )
    return dict(parameters.payload or {})


def _buttons(choice: Choice) -> list[dict[str, Any]]:
    buttons = [
        {
            "type": _BUTTON,
            "style": _STYLES[option.tone],
            "label": option.label,
            "custom_id": choice.data(option),
        }
        for option in choice.options
    ]
    return [{"type": _ROW, "components": buttons}]


def _callback(interaction: str, token: str) -> Route:
    path = "/interactions/{webhook_id}/{webhook_token}/callback"
    return Route("POST", path, webhook_id=interaction, webhook_token=token)


def _messages(verb: str, place: PlaceId, message: MessageId | None = None) -> Route:
    if message is None:
        return Route(verb, "/channels/{channel_id}/messages", channel_id=place)
    path = "/channels/{channel_id}/messages/{message_id}"
    return Route(verb, path, channel_id=place, message_id=message)
