"""Being told of updates: Telegram posts each one, and 200 means that it is stored."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from typing import TYPE_CHECKING

import structlog
from aiohttp import web

from adapters.telegram.manifest import TELEGRAM
from adapters.telegram.presses import Presses
from adapters.telegram.reading import cursor_name, read, update_number
from gateway.model.errors import ConflictError, Disposition, PlatformError, StoreError
from gateway.ports import Cursor, Received

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from adapters.telegram.client import Client
    from adapters.telegram.manifest import WebhookSettings
    from adapters.telegram.words import Me
    from gateway.model.ids import AccountId
    from gateway.ports import Clock, Intake

log: structlog.stdlib.BoundLogger = structlog.get_logger()

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105  (the header's name)
#: seconds between two looks at what Telegram says of the webhook
LOOK = 60.0
_LARGEST = 4 << 20


class WebhookServer:
    """Listens for all bots of this process, while one of them is served.

    A bot is addressed by the last segment of the path alone, so that a proxy in front may keep
    or drop the rest.
    """

    def __init__(self, listen: str, port: int) -> None:
        self._listen = listen
        self._port = port
        self._bots: dict[str, Callable[[web.Request], Awaitable[web.Response]]] = {}
        self._runner: web.AppRunner | None = None
        self._changing = asyncio.Lock()

    async def add(
        self, segment: str, answer: Callable[[web.Request], Awaitable[web.Response]]
    ) -> None:
        """Serve a bot. Raises ``PlatformError`` when the port cannot be had."""
        async with self._changing:
            if self._runner is None:
                self._runner = await self._start()
            self._bots[segment] = answer

    async def remove(self, segment: str) -> None:
        """Serve a bot no longer; what it is being told now may end within a second."""
        async with self._changing:
            self._bots.pop(segment, None)
            if not self._bots and self._runner is not None:
                runner, self._runner = self._runner, None
                await runner.cleanup()

    async def _start(self) -> web.AppRunner:
        app = web.Application(client_max_size=_LARGEST)
        app.router.add_post("/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._listen, self._port).start()
        except OSError as error:
            await runner.cleanup()
            raise PlatformError(
                f"cannot listen on {self._listen}:{self._port} ({error.strerror}): choose "
                "another platforms.telegram.webhook.port, or end what uses it",
                code="listen",
                disposition=Disposition.RETRY,
            ) from error
        return runner

    async def _answer(self, request: web.Request) -> web.Response:
        answer = self._bots.get(request.path.rpartition("/")[2])
        return web.Response(status=404) if answer is None else await answer(request)


class Webhook:
    """The ``Way`` by which Telegram calls us.

    Telegram repeats an update until it is answered with 200, for a day. That is given only after
    ``accept`` returned; updates come one at a time, so their order is kept.
    """

    def __init__(
        self,
        client: Client,
        account: AccountId,
        clock: Clock,
        *,
        server: WebhookServer,
        address: WebhookAddress,
    ) -> None:
        self._client = client
        self._account = account
        self._clock = clock
        self._server = server
        self._address = address
        self._listener: tuple[Me, Intake] | None = None
        self._presses = Presses(client)

    async def open(self, me: Me, intake: Intake) -> str:
        """See ``Way``: listens first, then tells Telegram where."""
        self._listener = me, intake
        await self._server.add(self._address.segment, self._answer)
        await self._announce()
        return ""

    async def receive(self, *, settled: bool) -> None:
        """See ``Way``: updates come by themselves; this looks whether they still do."""
        if settled:
            await self._clock.sleep(LOOK)
        state = await self._client.webhook_state()
        if state.url != self._address.url:
            await self._announce()
            raise ConflictError(
                "another program had taken this bot's webhook away: stop it, or give one of the "
                "two a token of its own"
            )
        if state.failing(self._clock.now(), 2 * LOOK):
            raise PlatformError(
                f"Telegram cannot deliver to platforms.telegram.webhook.url: {state.error}",
                code="webhook",
                disposition=Disposition.RETRY,
            )

    async def close(self) -> None:
        """See ``Way``: the webhook stays, so that Telegram keeps what comes meanwhile."""
        self._listener = None
        await self._server.remove(self._address.segment)
        await self._presses.aclose()

    async def _announce(self) -> None:
        await self._client.set_webhook(self._address.url, self._address.secret)

    async def _answer(self, request: web.Request) -> web.Response:
        given = request.headers.get(SECRET_HEADER, "").encode()
        if not hmac.compare_digest(given, self._address.secret.encode()):
            log.warning("telegram.foreign_call", action="receive", account=self._account)
            return web.Response(status=403)
        return web.Response(status=await self._take(await request.read()))

    async def _take(self, body: bytes) -> int:
        if self._listener is None:
            return 503
        me, intake = self._listener
        received, number = _read(body, me)
        cursor = None if number is None else Cursor(cursor_name(self._account), str(number + 1))
        try:
            await intake.accept((TELEGRAM, self._account), [received], cursor)
        except StoreError as error:
            log.warning("telegram.not_stored", action="receive", code=error.code)
            return 503
        self._presses.heard([received])
        return 200


class WebhookAddress:
    """Where one bot is called, and by which secret it knows its caller. Shown nowhere."""

    def __init__(self, settings: WebhookSettings, token: str) -> None:
        self.segment = _derived(token, "path")
        self.url = f"{(settings.url or '').rstrip('/')}/{self.segment}"
        configured = settings.secret.get_secret_value() if settings.secret else ""
        self.secret = configured or _derived(token, "secret")


def _derived(token: str, purpose: str) -> str:
    """Return an unguessable text that is the same at each start and tells nothing of the token."""
    return hmac.digest(token.encode(), f"webhook {purpose}".encode(), hashlib.sha256).hex()


def _read(body: bytes, me: Me) -> tuple[Received, int | None]:
    """Return one posted update and its number; what is no JSON is set aside like any odd one."""
    try:
        update = json.loads(body)
    except ValueError:
        name = f"sha256:{hashlib.sha256(body).hexdigest()}"
        return Received(body, name, fault="update: no JSON"), None
    return read(update, me), update_number(update)
