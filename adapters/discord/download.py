"""Fetching files: their addresses are signed and expire, so each is asked for when needed."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING

import aiohttp

from adapters.discord.errors import GONE, translated
from adapters.discord.fields import Fields
from gateway.model.errors import Disposition, PlatformError
from gateway.model.ids import MessageId, PlaceId

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from adapters.discord.client import Client

_TIMEOUT = aiohttp.ClientTimeout(total=None, connect=10.0, sock_read=20.0)
_PIECE = 1 << 16
#: seconds for which the addresses of one message are not asked for again
_FRESH = 60.0


class Downloads:
    """Files of the messages that one bot can see. ``aclose`` ends every connection."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._session: aiohttp.ClientSession | None = None
        self._one_at_a_time = asyncio.Lock()
        #: the message asked for last, when, and its addresses by file: an album is one message
        self._held: tuple[str, float, dict[str, str]] = ("", 0.0, {})

    async def fetch(self, ref: str) -> AsyncGenerator[bytes, None]:
        """Yield the file named by an attachment's ``ref``, piece by piece."""
        source, _, file = ref.rpartition("/")
        address = (await self._addresses(source)).get(file)
        if address is None:
            raise PlatformError("the message does not hold the file any more", code="gone")
        with translated():
            async with self._open().get(address) as response:
                _check(response.status)
                async for piece in response.content.iter_chunked(_PIECE):
                    yield piece

    async def aclose(self) -> None:
        """Close all connections; a later call opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=_TIMEOUT)
        return self._session

    async def _addresses(self, source: str) -> dict[str, str]:
        async with self._one_at_a_time:
            held, since, addresses = self._held
            now = asyncio.get_running_loop().time()
            if held != source or now - since > _FRESH:
                addresses = await self._ask(source)
                self._held = (source, now, addresses)
            return addresses

    async def _ask(self, source: str) -> dict[str, str]:
        place, _, message = source.partition("/")
        try:
            answer = await self._client.message(PlaceId(place), MessageId(message))
        except PlatformError as error:
            if error.code == GONE:
                raise PlatformError("the message was deleted", code="gone") from None
            raise
        return dict(_files(Fields.of(answer, "message")))


def _files(message: Fields) -> Iterator[tuple[str, str]]:
    """Yield id and address of each file, those of forwarded messages among them."""
    for file in message.children("attachments"):
        yield file.id(), file.text("url")
    for snapshot in message.children("message_snapshots"):
        if (held := snapshot.child("message")) is not None:
            yield from _files(held)


def _check(status: int) -> None:
    if status == HTTPStatus.OK:
        return
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN, HTTPStatus.GONE):
        raise PlatformError(f"Discord's file store answered {status}", code="gone")
    raise PlatformError(
        f"Discord's file store answered {status}", code="network", disposition=Disposition.RETRY
    )
