"""Sending: every part once, as formatted, with the reply where the question still stands."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from adapters.discord.client import Draft
from adapters.discord.errors import BUTTONS, GONE, REPLY
from adapters.discord.fields import Fields
from adapters.discord.render import render
from gateway.model.errors import Disposition, PlatformError
from gateway.model.ids import MessageId
from gateway.model.outbound import Receipt
from gateway.text.behind import in_words

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.discord.client import Client, Sent
    from adapters.discord.preview import Previews
    from gateway.model.ids import AccountId
    from gateway.model.outbound import Address, Part

log: structlog.stdlib.BoundLogger = structlog.get_logger()

#: Discord takes 25 characters
NONCE_LENGTH = 25


class Sink:
    """Posts parts and typing signs of one bot."""

    def __init__(self, client: Client, account: AccountId, previews: Previews) -> None:
        self._client = client
        self._account = account
        self._previews = previews

    async def send(self, part: Part) -> Receipt:
        """Post ``part``; a second time with the same key changes nothing.

        Discord forgets a nonce after some minutes, and an outage or a restart may take longer.
        A part that was in flight before is therefore looked for behind its question first.
        """
        if part.edits is not None:
            return await self._changed(part, part.edits)
        draft = first_draft(part)
        found = await self._find(draft) if part.in_doubt else None
        receipt = Receipt(found) if found is not None else await self._post(part)
        await self._previews.clear(part.address.place)
        return receipt

    async def send_file(self, part: Part, path: Path) -> Receipt:
        """Post the part's file, as ``send`` does with words."""
        if part.file is None:
            raise ValueError("a part without a file")
        content = await asyncio.to_thread(path.read_bytes)
        draft = Draft(
            part.address.place,
            "",
            nonce(part.key),
            part.reply_to,
            file=(part.file.label, content),
        )
        found = await self._find(draft) if part.in_doubt else None
        receipt = Receipt(found) if found is not None else await self._posted(draft)
        await self._previews.clear(part.address.place)
        return receipt

    async def typing(self, address: Address) -> None:
        """Show a typing sign."""
        await self._client.typing(address.place)

    async def _changed(self, part: Part, message: MessageId) -> Receipt:
        """Write ``part`` in place of an own message; behind it where that cannot be."""
        draft = first_draft(part)
        try:
            await self._client.edit(draft.place, message, draft.text)
        except PlatformError as error:
            if error.disposition is not Disposition.GIVE_UP or error.code == "credentials":
                raise
            log.info("discord.gave_way", action="send", place=draft.place, why=error.code)
            posted = await self._posted(draft)
            return replace(posted, degraded=("no-edit", *posted.degraded))
        return Receipt(message)

    async def _post(self, part: Part) -> Receipt:
        """Post ``part``; its buttons give way to words where Discord does not take them."""
        try:
            return await self._posted(first_draft(part))
        except PlatformError as error:
            if error.code != BUTTONS or part.choice is None:
                raise
            log.info("discord.gave_way", action="send", place=part.address.place, why=error.code)
        posted = await self._posted(first_draft(in_words(part)))
        return replace(posted, degraded=("no-buttons", *posted.degraded))

    async def _posted(self, draft: Draft) -> Receipt:
        try:
            sent = await self._client.send(draft)
        except PlatformError as error:
            if error.code not in (REPLY, GONE) or draft.reply_to is None:
                raise
            log.info("discord.gave_way", action="send", place=draft.place, why=error.code)
            sent = await self._client.send(replace(draft, reply_to=None))
        return Receipt(sent.message, _degraded(draft, sent))

    async def _find(self, draft: Draft) -> MessageId | None:
        """Return an own message of the same words behind the question, None when there is none."""
        question = (draft.reply_to or "").rpartition(":")[2]
        if not question.isdecimal():
            return None
        try:
            page = await self._client.history(draft.place, question)
        except PlatformError as error:
            if error.disposition is not Disposition.GIVE_UP:
                raise
            return None
        return next((found for each in page if (found := self._match(each, draft))), None)

    def _match(self, value: object, draft: Draft) -> MessageId | None:
        message = Fields.of(value, "history")
        author = message.child("author")
        own = author is not None and author.id() == self._account
        same = message.text("content").strip() == draft.text.strip()
        carried = [_carried(each) for each in message.children("attachments")]
        wanted = [] if draft.file is None else [(_plain(draft.file[0]), len(draft.file[1]))]
        return MessageId(message.id()) if own and same and carried == wanted else None


def _carried(file: Fields) -> tuple[str, int | None]:
    return _plain(file.text("filename")), file.number("size")


def _plain(name: str) -> str:
    """Return what Discord leaves of a file's name, which it writes in its own way."""
    return "".join(character for character in name if character.isascii() and character.isalnum())


def first_draft(part: Part) -> Draft:
    """Return the part as it should look."""
    text, place = render(part.content), part.address.place
    return Draft(place, text, nonce(part.key), part.reply_to, choice=part.choice)


def nonce(key: str) -> str:
    """Return the nonce of a part's key, which is longer than Discord takes."""
    return hashlib.sha256(key.encode()).hexdigest()[:NONCE_LENGTH]


def _degraded(draft: Draft, sent: Sent) -> tuple[str, ...]:
    return ("no-reply",) if draft.reply_to is not None and not sent.replied else ()
