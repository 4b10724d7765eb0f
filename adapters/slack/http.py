"""HTTP events: a small server that Slack posts to, behind the operator's own TLS."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request

from gateway.model.errors import Disposition, PlatformError

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.slack.dispatch import Dispatcher
    from adapters.slack.manifest import HttpSettings

#: what the app's settings name as Request URL, behind the public host
PATH = "/slack/events"


class HttpTransport:
    """Serves while it runs."""

    def __init__(self, settings: HttpSettings, dispatcher: Dispatcher) -> None:
        self._settings = settings
        self._dispatcher = dispatcher

    async def serve(self, connected: Callable[[], None]) -> None:
        """Listen until cancelled. Raises ``PlatformError`` when the port cannot be had."""
        app = web.Application()
        app.router.add_post(PATH, self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await self._listen(runner)
            connected()
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    async def _listen(self, runner: web.AppRunner) -> None:
        where = self._settings
        try:
            await web.TCPSite(runner, where.listen, where.port).start()
        except OSError as error:
            raise PlatformError(
                f"cannot listen on {where.listen}:{where.port} ({error.strerror}): choose "
                "another platforms.slack.http.port, or end what uses it",
                code="listen",
                disposition=Disposition.RETRY,
            ) from error

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            asked = await to_bolt_request(request)
        except (AttributeError, LookupError, TypeError, ValueError):
            return web.Response(status=400)
        return await to_aiohttp_response(await self._dispatcher.from_http(asked))
