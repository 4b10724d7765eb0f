"""What the agent is told of a turn, may do in it, and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from gateway.model.events import Forward, ReplyRef
    from gateway.model.files import AttachedFile, MadeFile
    from gateway.model.ids import (
        PeerId,
        SessionId,
        TurnId,
    )
    from gateway.policy.audience import Audience


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
    #: what is sent to the person behind the words, in order
    files: tuple[MadeFile, ...] = ()
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
