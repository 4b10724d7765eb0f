"""Turns, step logs and model sources for the agent's tests."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gateway.model.ids import TurnId
from gateway.ports import HistoryMessage, Spoken, TurnRequest

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from gateway.agent.run import ModelAgent
    from gateway.ports import Answer

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def turn(
    *texts: str, history: tuple[HistoryMessage, ...] = (), shared: bool = False, recall: str = ""
) -> TurnRequest:
    """Return a turn in which these texts were said."""
    return TurnRequest(
        TurnId("t_1"),
        tuple(Spoken(text, NOON) for text in texts),
        history=history,
        shared=shared,
        recall=recall,
    )


def talk(*texts: str) -> tuple[HistoryMessage, ...]:
    """Return a history in which person and agent take turns."""
    return tuple(HistoryMessage(index % 2 == 0, text) for index, text in enumerate(texts))


class MemoryLog:
    """A ``StepLog``; it breaks at the append numbered ``crash_at``, before storing."""

    def __init__(self, crash_at: int = -1) -> None:
        self.steps: list[str] = []
        self.crash_at = crash_at

    async def load(self) -> list[str]:
        return list(self.steps)

    async def append(self, step: str) -> None:
        if len(self.steps) == self.crash_at:
            raise CrashError
        self.steps.append(step)


class CrashError(Exception):
    """The process ends here."""


class FixedModel:
    """A ``ModelSource`` of a model that is there."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.closed = False

    async def open(self) -> Model:
        return self.model

    async def aclose(self) -> None:
        self.closed = True


async def ask(
    agent: ModelAgent,
    request: TurnRequest | str,
    *,
    log: MemoryLog | None = None,
    pieces: list[str] | None = None,
    stop: asyncio.Event | None = None,
) -> Answer:
    """Run a turn whose parts do not matter to the test."""
    return await agent.run(
        turn(request) if isinstance(request, str) else request,
        steps=log or MemoryLog(),
        emit=(pieces if pieces is not None else []).append,
        stop=stop or asyncio.Event(),
    )
