"""Fetching files by their ids. The address of a file holds the token, so it stays in here."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import httpx

from adapters.telegram.errors import translated
from gateway.model.errors import Disposition, PlatformError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from adapters.telegram.client import Client

_TIMEOUT = httpx.Timeout(20.0, connect=10.0)


class Downloads:
    """Files that one bot was sent. ``aclose`` ends every connection."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._http = httpx.AsyncClient(timeout=_TIMEOUT)

    async def fetch(self, ref: str) -> AsyncGenerator[bytes, None]:
        """Yield the file of a ``file_id``, piece by piece."""
        address = await self._client.file_address(ref)
        with translated():
            async with self._http.stream("GET", address) as response:
                _check(response.status_code)
                async for piece in response.aiter_bytes():
                    yield piece

    async def aclose(self) -> None:
        """Close all connections; nothing may be called afterwards."""
        await self._http.aclose()


def _check(status: int) -> None:
    if status == HTTPStatus.OK:
        return
    again = status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    raise PlatformError(
        f"Telegram's file store answered {status}",
        code="network" if again else "gone",
        disposition=Disposition.RETRY if again else Disposition.GIVE_UP,
    )
