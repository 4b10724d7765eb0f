"""The Discord adapter: one bot's source and sink behind the port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.discord.client import Client
from adapters.discord.download import Downloads
from adapters.discord.manifest import CAPABILITIES, DISCORD, account_of, check, token_of
from adapters.discord.preview import Previews
from adapters.discord.sink import Sink
from adapters.discord.socket import Socket
from adapters.discord.source import Source
from gateway.model.errors import ConfigurationError, Disposition, PlatformError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from adapters.discord.manifest import DiscordSettings
    from gateway.model.events import Attachment
    from gateway.model.ids import AccountId, MessageId, TurnId
    from gateway.model.outbound import Address, Part, Receipt
    from gateway.ports import Adapter, AdapterStatus, Clock, Intake, Preview


class DiscordAdapter:
    """One bot account. ``send`` and ``typing`` work whether or not ``run`` is receiving."""

    platform = DISCORD
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
        """Return at once: nothing is waited for before a send."""

    async def send(self, part: Part) -> Receipt:
        return await self._sink.send(part)

    async def send_file(self, part: Part, path: Path) -> Receipt:
        return await self._sink.send_file(part, path)

    def finishing(self, part: Part) -> bool:
        """Never: a preview is taken away, and the answer posted."""
        return False

    async def look_up(self, part: Part) -> Receipt | None:
        """Never claims anything: a second send is what finds the first one."""
        raise PlatformError(
            "Discord drops a repeated send by itself: send again instead of looking up",
            code="no_look_up",
            disposition=Disposition.AMBIGUOUS,
        )

    def download(self, attachment: Attachment) -> AsyncGenerator[bytes, None]:
        return self._downloads.fetch(attachment.ref)

    async def typing(self, address: Address) -> None:
        await self._sink.typing(address)

    def preview(self, address: Address, turn: TurnId, reply_to: MessageId) -> Preview | None:
        return self._previews.begin(address, turn, reply_to)

    async def aclose(self) -> None:
        await self._downloads.aclose()
        await self._client.aclose()


def create(
    settings: DiscordSettings,
    secrets: Mapping[str, str],
    *,
    clock: Clock,
    commands: Sequence[tuple[str, str]] = (),
) -> list[Adapter]:
    """Build the adapter of the token in ``secrets``.

    ``commands`` are ``(name, description)`` for Discord's own menu. Raises
    ``ConfigurationError`` with everything that is wrong.
    """
    token = token_of(secrets)
    account = account_of(token)
    if (problems := check(settings, secrets)) or account is None:
        raise ConfigurationError(*problems)
    client = Client(token, account, settings.api_base)
    previews = Previews(client, account, clock)
    source = Source(
        client,
        Socket(client, settings.gateway_url),
        account,
        clock,
        previews=previews,
        commands=commands,
    )
    return [DiscordAdapter(account, client, source, Sink(client, account, previews), previews)]
