"""The Telegram adapter: one bot's source and sink behind the port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.telegram.client import Client
from adapters.telegram.download import Downloads
from adapters.telegram.manifest import (
    CAPABILITIES,
    TELEGRAM,
    account_of,
    check,
    split_tokens,
)
from adapters.telegram.pace import Pacer
from adapters.telegram.polling import Polling
from adapters.telegram.preview import Previews
from adapters.telegram.sink import Sink
from adapters.telegram.source import Source
from adapters.telegram.webhook import Webhook, WebhookAddress, WebhookServer
from gateway.live import Board, Rhythm
from gateway.model.errors import ConfigurationError, Disposition, PlatformError
from gateway.model.ids import AccountId

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from adapters.telegram.manifest import TelegramSettings
    from adapters.telegram.source import Way
    from gateway.model.events import Attachment
    from gateway.model.ids import MessageId, TurnId
    from gateway.model.outbound import Address, Part, Receipt
    from gateway.ports import Adapter, AdapterStatus, Clock, Intake, Preview


class TelegramAdapter:
    """One bot account. ``send`` and ``typing`` work whether or not ``run`` is receiving."""

    platform = TELEGRAM
    capabilities = CAPABILITIES

    def __init__(
        self, account: AccountId, client: Client, source: Source, sink: Sink, previews: Previews
    ) -> None:
        self.account = account
        self._client = client
        self._downloads = Downloads(client)
        self._source = source
        self._sink = sink
        self._previews = previews

    @property
    def status(self) -> AdapterStatus:
        return self._source.status

    async def run(self, intake: Intake) -> None:
        await self._source.run(intake)

    async def ready(self, address: Address) -> None:
        await self._sink.ready(address)

    async def send(self, part: Part) -> Receipt:
        return await self._sink.send(part)

    async def send_file(self, part: Part, path: Path) -> Receipt:
        return await self._sink.send_file(part, path)

    def finishing(self, part: Part) -> bool:
        return self._sink.finishing(part)

    async def look_up(self, part: Part) -> Receipt | None:
        """Never claims anything: a bot cannot read what it has posted."""
        raise PlatformError(
            "Telegram gives bots no way to look up what they posted",
            code="no_look_up",
            disposition=Disposition.AMBIGUOUS,
        )

    def download(self, attachment: Attachment) -> AsyncGenerator[bytes, None]:
        return self._downloads.fetch(attachment.ref)

    async def typing(self, address: Address) -> None:
        await self._sink.typing(address)

    def preview(self, address: Address, turn: TurnId, reply_to: MessageId) -> Preview | None:
        return self._sink.preview(address, turn, reply_to)

    async def aclose(self) -> None:
        await self._previews.withdraw_all()
        await self._downloads.aclose()
        await self._client.aclose()


def create(
    settings: TelegramSettings,
    secrets: Mapping[str, str],
    *,
    clock: Clock,
    commands: Sequence[tuple[str, str]] = (),
) -> list[Adapter]:
    """Build one adapter for each token in ``secrets``.

    ``commands`` are ``(name, description)`` for Telegram's command menu. Raises
    ``ConfigurationError`` with everything that is wrong.
    """
    if problems := check(settings, secrets):
        raise ConfigurationError(*problems)
    server = WebhookServer(settings.webhook.listen, settings.webhook.port)
    return [
        _build(token, settings, clock, commands=commands, server=server)
        for token in split_tokens(secrets)
    ]


def _build(
    token: str,
    settings: TelegramSettings,
    clock: Clock,
    *,
    commands: Sequence[tuple[str, str]],
    server: WebhookServer,
) -> TelegramAdapter:
    account = AccountId(account_of(token))
    client = Client(token, settings)
    way: Way = Polling(client, account)
    if settings.mode == "webhook":
        address = WebhookAddress(settings.webhook, token)
        way = Webhook(client, account, clock, server=server, address=address)
    source = Source(client, account, clock, way, commands=commands)
    pacer, board = Pacer(clock), Board()
    previews = Previews(client, pacer, Rhythm(clock), board)
    sink = Sink(client, pacer, board, previews)
    return TelegramAdapter(account, client, source, sink, previews)
