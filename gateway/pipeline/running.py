"""Which turns run in this process, so that ``/stop`` reaches them at once."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from gateway.model.ids import ConversationKey

T = TypeVar("T")


class Running:
    """One stop signal for each conversation with a running turn."""

    def __init__(self) -> None:
        self._signals: dict[ConversationKey, asyncio.Event] = {}

    @contextmanager
    def enter(self, conversation: ConversationKey) -> Iterator[asyncio.Event]:
        """Register a running turn; a lane runs one turn of a conversation at a time."""
        signal = self._signals[conversation] = asyncio.Event()
        try:
            yield signal
        finally:
            del self._signals[conversation]

    def stop(self, conversation: ConversationKey) -> None:
        """Tell the conversation's turn to stop; a no-op when none runs here."""
        signal = self._signals.get(conversation)
        if signal is not None:
            signal.set()

    def __len__(self) -> int:
        return len(self._signals)


async def unless(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """Return what ``work`` comes to; None, with the work cancelled, when ``stop`` is set first."""
    task, stopped = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for each in (task, stopped):
            each.cancel()
        await asyncio.gather(task, stopped, return_exceptions=True)
