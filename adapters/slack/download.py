"""Fetching files: by their id, with the bot's token, and never from anywhere but Slack."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adapters.slack.errors import translated
from gateway.model.errors import Disposition, PlatformError, RateLimitedError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import aiohttp

    from adapters.slack.client import Client
    from adapters.slack.drafts import FileAddress

_HOSTS = ("slack.com", "slack-files.com")
_PIECE = 1 << 16
_UNSTATED_WAIT = 5.0


class Downloads:
    """Files that one app can see."""

    def __init__(self, client: Client, base_url: str) -> None:
        """``base_url``: where the Web API is; its host may hand out files too."""
        self._client = client
        self._home = urlsplit(base_url).hostname

    async def fetch(self, ref: str) -> AsyncGenerator[bytes, None]:
        """Yield the file of an id, piece by piece. Also a file that Slack only hinted at."""
        file = await self._client.file(ref)
        self._check_host(file.address)
        with translated():
            async with self._client.get(file.address) as response:
                _check(response, file)
                async for piece in response.content.iter_chunked(_PIECE):
                    yield piece

    def _check_host(self, address: str) -> None:
        """The token must not go to where a file of another company's store lies."""
        host = urlsplit(address).hostname or ""
        own = host == self._home or any(host == one or host.endswith(f".{one}") for one in _HOSTS)
        if not own:
            raise PlatformError("the file does not lie with Slack", code="gone")


def _check(response: aiohttp.ClientResponse, file: FileAddress) -> None:
    """Without the right to read, Slack answers 200 with a page to sign in."""
    status = response.status
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        raise RateLimitedError("Slack's file store asks to wait", retry_after=_UNSTATED_WAIT)
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        raise PlatformError(f"Slack's file store answered {status}", code="gone")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        detail = f"Slack's file store answered {status}"
        raise PlatformError(detail, code="network", disposition=Disposition.RETRY)
    page = response.content_type == "text/html"
    asked_for = file.mime == "text/html" and response.content_length == file.size
    if status != HTTPStatus.OK or (page and not asked_for):
        raise PlatformError(
            "Slack wants a sign-in for the file: add the scope files:read on the app's page "
            "OAuth & Permissions and install the app again",
            code="missing_scope",
        )
