"""An agent that says what a test wrote down, when the test lets it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.ports import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gateway.ports import StepLog, TurnRequest

#: what a turn gets: words, a whole answer, or a failure
Reply = str | Answer | Exception


@dataclass(slots=True)
class Run:
    """One call of ``run``: what it was asked, what it found committed, how it ended."""

    request: TurnRequest
    #: steps that an earlier run of the same turn had committed
    found: list[str] = field(default_factory=list)
    #: steps that this run did itself
    done: list[str] = field(default_factory=list)
    stopped: bool = False
    ended: bool = False

    @property
    def texts(self) -> list[str]:
        """What was said in the turn."""
        return [spoken.text for spoken in self.request.spoken]

    @property
    def history(self) -> list[str]:
        """What was said before."""
        return [message.text for message in self.request.history]


class ScriptedAgent:
    """Gives ``replies`` in order and then echoes (``re: `` and the turn's lines).

    ``hold`` makes runs wait after ``partial`` was emitted, until ``release`` or a stop.
    ``steps`` are committed one by one first; those already in the log are not done again.
    """

    def __init__(
        self, *replies: Reply, steps: Sequence[str] = (), partial: Sequence[str] = ()
    ) -> None:
        self.replies = list(replies)
        self.steps = steps
        self.partial = partial
        self.runs: list[Run] = []
        #: decides instead of ``replies`` where it is set
        self.answer: Callable[[TurnRequest], Reply] | None = None
        self.closed = False
        self._open = asyncio.Event()
        self._open.set()

    def hold(self) -> None:
        """Let runs begin and not end."""
        self._open.clear()

    def release(self) -> None:
        """Let runs end."""
        self._open.set()

    async def run(
        self,
        request: TurnRequest,
        *,
        steps: StepLog,
        emit: Callable[[str], None],
        stop: asyncio.Event,
    ) -> Answer:
        """See ``gateway.ports.Agent``."""
        run = Run(request, found=await steps.load())
        self.runs.append(run)
        try:
            for step in self.steps[len(run.found) :]:
                run.done.append(step)
                await steps.append(step)
            for piece in self.partial:
                emit(piece)
            await self._wait(stop)
            if stop.is_set():
                run.stopped = True
                return Answer("".join(self.partial), stopped=True)
            return self._reply(request)
        finally:
            run.ended = True

    async def aclose(self) -> None:
        """See ``gateway.ports.Agent``."""
        self.closed = True

    async def _wait(self, stop: asyncio.Event) -> None:
        waits = [asyncio.create_task(event.wait()) for event in (self._open, stop)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    def _reply(self, request: TurnRequest) -> Answer:
        if self.answer is not None:
            reply = self.answer(request)
        elif self.replies:
            reply = self.replies.pop(0)
        else:
            reply = "re: " + "\n".join(spoken.text for spoken in request.spoken)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Answer) else Answer(reply, model="test:script")
