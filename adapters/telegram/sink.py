"""Sending: every part exactly as formatted if Telegram lets it, with less where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from adapters.telegram.client import Draft
from adapters.telegram.errors import ENTITIES, REPLY, THREAD, ChatMovedError
from adapters.telegram.manifest import CAPABILITIES
from adapters.telegram.people import GENERAL_TOPIC
from adapters.telegram.render import render
from gateway.model.errors import PlatformError, RateLimitedError
from gateway.model.outbound import Receipt
from gateway.text.plain import plain

if TYPE_CHECKING:
    from adapters.telegram.client import Client, Sent
    from adapters.telegram.pace import Pacer
    from gateway.model.ids import ThreadId
    from gateway.model.outbound import Address, Part

log: structlog.stdlib.BoundLogger = structlog.get_logger()


class Sink:
    """Posts parts and typing signs of one bot."""

    def __init__(self, client: Client, pacer: Pacer) -> None:
        self._client = client
        self._pacer = pacer

    async def send(self, part: Part) -> Receipt:
        """Post ``part`` once; raise the last refusal when nothing can give way any more.

        Only a refusal is followed by another try, never an unknown outcome. What gives way is
        formatting, the topic, the reply; never the chat, except that a group's move is followed.
        """
        draft = first_draft(part)
        degraded: list[str] = []
        while True:
            try:
                sent = await self._post(draft)
            except PlatformError as error:
                lesser = give_way(draft, part, error)
                if lesser is None:
                    raise
                draft, label = lesser
                degraded += [label] if label else []
                log.info("telegram.gave_way", action="send", place=draft.place, why=error.code)
                continue
            if draft.reply_to is not None and not sent.replied:
                degraded.append("no-reply")
            return Receipt(sent.message, tuple(degraded))

    async def typing(self, address: Address) -> None:
        """Show a typing sign, unless the chat has to be left alone or its budget is short."""
        if not self._pacer.try_typing(address.place):
            log.debug("telegram.typing_skipped", action="typing", place=address.place)
            return
        try:
            await self._client.send_typing(address.place, topic(address))
        except RateLimitedError as error:
            self._pacer.obey(address.place, error)
            raise

    async def _post(self, draft: Draft) -> Sent:
        await self._pacer.take_turn(draft.place)
        try:
            return await self._client.send_message(draft)
        except RateLimitedError as error:
            self._pacer.obey(draft.place, error)
            raise


def first_draft(part: Part) -> Draft:
    """Return the part as it should look."""
    text, entities = render(part.content)
    return Draft(part.address.place, text, tuple(entities), topic(part.address), part.reply_to)


def topic(address: Address) -> ThreadId | None:
    """Return the topic to name; General is answered by naming none."""
    return None if address.thread == GENERAL_TOPIC else address.thread


def give_way(draft: Draft, part: Part, error: PlatformError) -> tuple[Draft, str] | None:
    """Return what to try after a refusal and what it gives up ("": nothing), or None.

    Each step is taken once, so that repeated refusals end.
    """
    if isinstance(error, ChatMovedError) and draft.place == part.address.place:
        # Numbers of the old group mean other messages in the new one.
        moved = replace(draft, place=error.place, thread=None, reply_to=None)
        return moved, "" if draft.reply_to is None else "no-reply"
    if error.code == ENTITIES and draft.entities:
        text = plain(part.content, limit=CAPABILITIES.max_length)
        return replace(draft, text=text, entities=()), "plain"
    if error.code == THREAD and draft.thread is not None:
        return replace(draft, thread=None), "no-thread"
    if error.code == REPLY and draft.reply_to is not None:
        return replace(draft, reply_to=None), "no-reply"
    return None
