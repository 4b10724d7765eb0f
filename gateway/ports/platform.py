"""What an adapter hands in, is asked for, and declares."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pydantic import BaseModel

    from gateway.model.capabilities import Capabilities
    from gateway.model.events import Attachment, InboundEvent
    from gateway.model.ids import (
        AccountId,
        MessageId,
        PlatformName,
        TurnId,
    )
    from gateway.model.outbound import Address, Part, Receipt


@dataclass(frozen=True, slots=True)
class Received:
    """One raw update: parsed, or set aside with the reason why it could not be."""

    raw: bytes
    #: the platform's own number of the update: names a row that was set aside
    update: str
    event: InboundEvent | None = None
    #: why ``event`` is None; holds no message text
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far an account has been read. Stored in the transaction that stores the updates."""

    name: str
    value: str
    #: the first value stays: what an account was when it first connected
    fixed: bool = False


class Intake(Protocol):
    """Where adapters hand in what they received."""

    async def accept(
        self,
        account: tuple[PlatformName, AccountId],
        received: Sequence[Received],
        cursor: Cursor | None = None,
    ) -> None:
        """Store the updates durably, in order, once.

        Only after this returns may the platform be told that they arrived. Raises ``StoreError``
        when nothing was stored: the adapter must then not acknowledge, and try again.
        """
        ...

    async def cursor(self, name: str) -> str | None:
        """Return the stored value of a cursor."""
        ...


class ConnectionState(StrEnum):
    """State of an adapter's connection, for ``status`` and health checks."""

    STARTING = "starting"
    CONNECTED = "connected"
    RETRYING = "retrying"
    CONFLICT = "conflict"
    BAD_CREDENTIALS = "bad_credentials"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class AdapterStatus:
    """What an adapter says about its connection. ``detail`` holds no secret."""

    state: ConnectionState
    detail: str = ""
    since: datetime | None = None


class Preview(Protocol):
    """An answer shown while it is written. Best effort: never the record, never an error."""

    def update(self, text: str) -> None:
        """Show ``text``, the whole answer so far. Returns at once."""
        ...

    async def close(self) -> None:
        """Stop showing; after this no call reaches the platform."""
        ...


class Adapter(Protocol):
    """One account on one platform."""

    @property
    def platform(self) -> PlatformName: ...
    @property
    def account(self) -> AccountId: ...
    @property
    def capabilities(self) -> Capabilities: ...
    @property
    def status(self) -> AdapterStatus: ...

    async def run(self, intake: Intake) -> None:
        """Connect and receive until cancelled; survive outages, report them in ``status``.

        Returns by itself only when its source has ended (the console's input) or can never work
        (bad credentials). What was accepted is already durable: cancelling loses nothing.
        """
        ...

    async def ready(self, address: Address) -> None:
        """Return when a send to this place may begin, so that none has begun that only waits.

        Raises ``RateLimitedError`` where that is long; not asked where sends can be repeated.
        """
        ...

    async def send(self, part: Part) -> Receipt:
        """Send one part. Raises a ``PlatformError`` whose disposition says what is known."""
        ...

    async def send_file(self, part: Part, path: Path) -> Receipt:
        """Send the file of a part, which lies at ``path``, under its label.

        As ``send``; the code is ``too_large``, ``forbidden`` or ``gone`` where that is known.
        """
        ...

    def finishing(self, part: Part) -> bool:
        """Tell whether a send of ``part`` would change a message that stands there already.

        Such a send may be repeated by this process, whatever the platform's ``Resend``.
        """
        ...

    async def look_up(self, part: Part) -> Receipt | None:
        """Find a part that may have been sent (``Resend.LOOK_UP`` only); None: it was not."""
        ...

    def download(self, attachment: Attachment) -> AsyncGenerator[bytes, None]:
        """Yield what a file holds, piece by piece; the platform is asked anew each time.

        Raises a ``PlatformError``; its code is ``too_large`` or ``gone`` where that is known.
        The caller limits the size, and closes the generator.
        """
        ...

    async def typing(self, address: Address) -> None:
        """Show once that an answer is being written. Raises ``PlatformError``."""
        ...

    def preview(self, address: Address, turn: TurnId, reply_to: MessageId) -> Preview | None:
        """Return a preview for a turn's answer to ``reply_to``, None where there is none."""
        ...

    async def aclose(self) -> None:
        """Release connections after ``run`` has ended and nothing is being sent."""
        ...


@dataclass(frozen=True, slots=True)
class Manifest:
    """What can be known of a platform without importing its library."""

    name: PlatformName
    capabilities: Capabilities
    #: the model of ``platforms.<name>`` in config.yaml
    settings: type[BaseModel]
    #: environment variables that hold this platform's secrets, the essential one first
    secrets: tuple[str, ...]
    #: ``package.module:function`` that builds the adapters; imported only when enabled
    factory: str
    #: ``package.module:function``, called with (settings, secrets) and awaited: asks the platform
    #: about every token and returns the bots' names; raises ``PlatformError``, of which
    #: ``CredentialsError`` says that a token is not accepted
    probe: str = ""
    #: ids of the platform's own accounts, which never are a person
    service_accounts: frozenset[str] = frozenset()
    #: the accounts that the secrets are for, as far as they tell without asking the platform
    accounts: Callable[[Mapping[str, str]], Sequence[AccountId]] = field(default=lambda _s: ())
    #: called with (settings, secrets): problems in words, [] when it can start
    check: Callable[[Any, Mapping[str, str]], list[str]] = field(default=lambda _s, _e: [])
