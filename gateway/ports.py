"""Protocols between the durable core and everything that may be exchanged.

The core calls ``Adapter`` and ``Agent``; adapters call ``Intake``. Implementations may raise
``GatewayError`` only: foreign exceptions are translated where the foreign library is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pydantic import BaseModel

    from gateway.model.capabilities import Capabilities
    from gateway.model.events import Attachment, Forward, InboundEvent, ReplyRef
    from gateway.model.files import AttachedFile
    from gateway.model.ids import (
        AccountId,
        LedgerKey,
        MessageId,
        PeerId,
        PlatformName,
        SessionId,
        TurnId,
    )
    from gateway.model.memory import (
        BaseContext,
        ContextQuery,
        DialecticQuestion,
        Excerpt,
        MemoryMessage,
        Observation,
    )
    from gateway.model.outbound import Address, Part, Receipt
    from gateway.policy.audience import Audience


class Clock(Protocol):
    """Time, so that tests need not wait for it."""

    def now(self) -> datetime:
        """Return the present moment, aware UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back; only differences mean something."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds``."""
        ...


# --- platforms -------------------------------------------------------------------------------


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

    async def send(self, part: Part) -> Receipt:
        """Send one part. Raises a ``PlatformError`` whose disposition says what is known."""
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
    #: ids of the platform's own accounts, which never are a person
    service_accounts: frozenset[str] = frozenset()
    #: the accounts that the secrets are for, as far as they tell without asking the platform
    accounts: Callable[[Mapping[str, str]], Sequence[AccountId]] = field(default=lambda _s: ())
    #: called with (settings, secrets): problems in words, [] when it can start
    check: Callable[[Any, Mapping[str, str]], list[str]] = field(default=lambda _s, _e: [])


# --- agent -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spoken:
    """One message of the turn, as the agent is to see it."""

    text: str
    sent_at: datetime
    #: display name, shown as data where several people speak; never identity
    author: str = ""
    reply: ReplyRef | None = None
    forward: Forward | None = None
    files: tuple[AttachedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryMessage:
    """An earlier message of the session."""

    from_user: bool
    text: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class Asker:
    """For whom a turn is run: tools reach this person's data, and what the audience allows."""

    peer: PeerId
    session: SessionId
    audience: Audience


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """All that the agent may know for one turn."""

    turn: TurnId
    spoken: tuple[Spoken, ...]
    #: oldest first, whole: the agent cuts it to its own budget
    history: tuple[HistoryMessage, ...] = ()
    #: several people share this conversation
    shared: bool = False
    #: recalled data for this turn, fenced by the agent into the last message
    recall: str = ""
    #: None where the speaker stands for nobody: no personal tools
    asker: Asker | None = None
    #: the person's notes as the session began, and its commands: the same for the whole session
    memory: str = ""
    commands: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the agent came to. An empty ``text`` means that the model said nothing."""

    text: str
    #: the person stopped it: ``text`` is what had been written so far
    stopped: bool = False
    #: ``provider:name`` of the model that answered, for the trace
    model: str = ""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class StepLog(Protocol):
    """The committed model steps of one turn, so that a re-run resumes where it was."""

    async def load(self) -> list[str]:
        """Return the stored steps in order."""
        ...

    async def append(self, step: str) -> None:
        """Commit one step (JSON) before the next model request is made.

        Raises ``StaleLeaseError`` when another worker has taken the turn over.
        """
        ...


@dataclass(frozen=True, slots=True)
class AgentTool:
    """Something the model may call."""

    name: str
    description: str
    #: JSON schema of the arguments
    parameters: Mapping[str, object]
    #: called with the turn and the arguments; raises ``GatewayError`` with a text for the model
    call: Callable[[TurnRequest, Mapping[str, Any]], Awaitable[str]]
    #: whether the model sees it in this turn
    visible: Callable[[TurnRequest], bool]
    #: a second call with the same arguments changes nothing
    idempotent: bool = True


class Agent(Protocol):
    """The model with its tools."""

    async def run(
        self,
        request: TurnRequest,
        *,
        steps: StepLog,
        emit: Callable[[str], None],
        stop: asyncio.Event,
    ) -> Answer:
        """Answer one turn.

        ``emit`` is called with each new piece of text. When ``stop`` is set the run ends within
        moments with ``stopped`` and the partial text. Raises ``AgentError``: ``RETRY`` where a
        later try may help, else ``GIVE_UP`` with a ``user_text``.
        """
        ...

    async def aclose(self) -> None:
        """Release connections and child processes."""
        ...


class Transcriber(Protocol):
    """Writes down what is said in recordings."""

    async def transcribe(self, recording: Path, mime: str) -> str:
        """Return what is said, "" where nothing is.

        Raises ``AgentError``: ``RETRY`` where a later try may help.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


# --- memory ----------------------------------------------------------------------------------


class Memory(Protocol):
    """A memory service: one workspace of a hosted, self-hosted or embedded Honcho.

    Every method raises ``MemoryServiceError`` only. None of them tries again by itself.
    """

    async def open_session(
        self, session: SessionId, peers: Mapping[PeerId, Observation]
    ) -> Mapping[PeerId, Observation]:
        """Make sure that session and members exist; return the flags as the service has them.

        Flags of members that exist already are left as they are: the service's own win.
        """
        ...

    async def add(self, session: SessionId, messages: Sequence[MemoryMessage]) -> None:
        """Store 1 to 100 messages in this order, all or none.

        ``MemoryAmbiguousError``: they may have been stored; ask ``stored`` before trying again.
        """
        ...

    async def stored(self, session: SessionId, keys: Sequence[LedgerKey]) -> frozenset[LedgerKey]:
        """Return which of ``keys`` the session holds, read from the service's database."""
        ...

    async def context(self, query: ContextQuery) -> BaseContext:
        """Return the base context."""
        ...

    async def ask(self, question: DialecticQuestion, *, timeout: float) -> str:
        """Return the dialectic answer, "" where nothing is known."""
        ...

    async def card(self, observer: PeerId, observed: PeerId) -> tuple[str, ...]:
        """Return the card that ``observer`` keeps of ``observed``."""
        ...

    async def set_card(self, observer: PeerId, observed: PeerId, facts: Sequence[str]) -> None:
        """Replace that card."""
        ...

    async def search(
        self, words: str, *, peer: PeerId | None, session: SessionId | None, limit: int
    ) -> list[Excerpt]:
        """Return stored messages that match, said by ``peer`` or in ``session`` where given."""
        ...

    async def conclude(
        self, observer: PeerId, observed: PeerId, text: str, session: SessionId | None
    ) -> str:
        """Store a conclusion and return its id."""
        ...

    async def conclusions(
        self, observer: PeerId, observed: PeerId, *, limit: int = 50
    ) -> list[tuple[str, str]]:
        """Return (id, text) of the newest conclusions of a pair."""
        ...

    async def forget_conclusion(self, observer: PeerId, observed: PeerId, id_: str) -> None:
        """Delete one conclusion of a pair."""
        ...

    async def agents(self) -> Mapping[str, PeerId]:
        """Return the map agent → peer that the workspace's metadata holds."""
        ...

    async def register_agent(self, agent: str, peer: PeerId) -> None:
        """Add one agent to that map; everything else in the metadata stays."""
        ...

    async def pending(self) -> int:
        """Return how many messages the service has still to think about; also a health check."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
