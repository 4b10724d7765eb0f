"""The Slack adapter: one team's source and sink behind the port, one connection for all teams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.slack.client import Client
from adapters.slack.dispatch import Dispatcher
from adapters.slack.download import Downloads
from adapters.slack.http import HttpTransport
from adapters.slack.link import Link
from adapters.slack.manifest import (
    APP_TOKEN,
    CAPABILITIES,
    SIGNING_SECRET,
    SLACK,
    account_of,
    check,
    split_tokens,
)
from adapters.slack.profiles import Profiles
from adapters.slack.sink import Sink
from adapters.slack.socket import SocketTransport
from adapters.slack.source import Source
from gateway.live import Board, Rhythm
from gateway.model.errors import ConfigurationError, CredentialsError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from adapters.slack.link import Transport
    from adapters.slack.manifest import SlackSettings
    from gateway.model.events import Attachment
    from gateway.model.ids import AccountId, MessageId, TurnId
    from gateway.model.outbound import Address, Part, Receipt
    from gateway.ports import Adapter, AdapterStatus, Clock, Intake, Preview


class SlackAdapter:
    """The app in one team. ``send`` and ``typing`` work whether or not ``run`` is receiving."""

    platform = SLACK
    capabilities = CAPABILITIES

    def __init__(
        self,
        account: AccountId,
        source: Source,
        sink: Sink,
        *,
        clients: Sequence[Client],
        profiles: Profiles,
        downloads: Downloads,
    ) -> None:
        """``clients`` are closed with the adapter; one that is shared may be closed twice."""
        self.account = account
        self._source = source
        self._sink = sink
        self._clients = clients
        self._profiles = profiles
        self._downloads = downloads

    @property
    def status(self) -> AdapterStatus:
        return self._source.status

    async def run(self, intake: Intake) -> None:
        await self._source.run(intake)

    async def ready(self, address: Address) -> None:
        """Return at once: nothing is waited for before a send."""

    async def send(self, part: Part) -> Receipt:
        try:
            return await self._sink.send(part)
        except CredentialsError:
            self._source.doubt()
            raise

    async def send_file(self, part: Part, path: Path) -> Receipt:
        try:
            return await self._sink.send_file(part, path)
        except CredentialsError:
            self._source.doubt()
            raise

    def finishing(self, part: Part) -> bool:
        """Never: an answer is found by its key, wherever it stands."""
        return False

    async def look_up(self, part: Part) -> Receipt | None:
        return await self._sink.look_up(part)

    def download(self, attachment: Attachment) -> AsyncGenerator[bytes, None]:
        return self._downloads.fetch(attachment.ref)

    async def typing(self, address: Address) -> None:
        await self._sink.typing(address)

    def preview(self, address: Address, turn: TurnId, reply_to: MessageId) -> Preview | None:
        return self._sink.preview(address, turn)

    async def aclose(self) -> None:
        await self._profiles.aclose()
        for client in self._clients:
            await client.aclose()


def create(
    settings: SlackSettings,
    secrets: Mapping[str, str],
    *,
    clock: Clock,
    commands: Sequence[tuple[str, str]] = (),
) -> list[Adapter]:
    """Build one adapter for each team's token in ``secrets``; they share one connection.

    ``commands`` go unused: Slack's command menu is part of the app's own settings. Raises
    ``ConfigurationError`` with everything that is wrong.
    """
    if problems := check(settings, secrets):
        raise ConfigurationError(*problems)
    app = Client(secrets.get(APP_TOKEN, "").strip(), settings.base_url)
    dispatcher = Dispatcher(secrets.get(SIGNING_SECRET, "").strip() or "unused in Socket Mode")
    transport: Transport = SocketTransport(app, dispatcher)
    if settings.mode == "http":
        transport = HttpTransport(settings.http, dispatcher)
    link = Link(transport, clock)
    return [
        _team(token, settings, clock, app=app, link=link, dispatcher=dispatcher)
        for token in split_tokens(secrets)
    ]


def _team(
    token: str,
    settings: SlackSettings,
    clock: Clock,
    *,
    app: Client,
    link: Link,
    dispatcher: Dispatcher,
) -> SlackAdapter:
    client, account = Client(token, settings.base_url), account_of(token)
    profiles = Profiles(client, clock)
    sink = Sink(client, Board(), Rhythm(clock))
    source = Source(
        client,
        account,
        clock,
        link=link,
        dispatcher=dispatcher,
        profiles=profiles,
        sweep=sink.sweep,
        threads=settings.reply_in_thread,
    )
    return SlackAdapter(
        account,
        source,
        sink,
        clients=(client, app),
        profiles=profiles,
        downloads=Downloads(client, settings.base_url),
    )
