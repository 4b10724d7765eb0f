"""A small core for console tests: takes messages in order and answers them as it is told."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gateway.model.ids import TurnId
from gateway.model.outbound import Address, Part
from gateway.text.markup import parse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from gateway.model.events import InboundEvent
    from gateway.model.ids import AccountId, PlatformName
    from gateway.ports import Adapter, Cursor, Received


class RealClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def echo(core: Core, event: InboundEvent) -> None:
    """Answer ``echo: <text>`` at once."""
    await core.reply(event, f"echo: {event.text}")


class Core:
    """Stands for intake and pipeline. Commands are answered at once, messages one by one."""

    def __init__(self, answer: Callable[[Core, InboundEvent], Awaitable[None]] = echo) -> None:
        self.events: list[InboundEvent] = []
        self.adapter: Adapter | None = None
        self._answer = answer
        self._queue: asyncio.Queue[InboundEvent] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()

    async def accept(
        self,
        account: tuple[PlatformName, AccountId],
        received: Sequence[Received],
        cursor: Cursor | None = None,
    ) -> None:
        for one in received:
            assert one.event is not None
            assert account == (one.event.platform, one.event.account)
            self.events.append(one.event)
            if one.event.command:
                self._spawn(self._answer(self, one.event))
            else:
                self._queue.put_nowait(one.event)

    async def cursor(self, name: str) -> str | None:
        return None

    async def serve(self) -> None:
        """Answer messages one after the other until cancelled."""
        while True:
            event = await self._queue.get()
            await self._answer(self, event)

    async def run(self, adapter: Adapter) -> None:
        """Run ``adapter`` to its end with this core behind it."""
        self.adapter = adapter
        serving = asyncio.ensure_future(self.serve())
        try:
            await adapter.run(self)
        finally:
            serving.cancel()
            await asyncio.gather(serving, *self._tasks, return_exceptions=True)
            await adapter.aclose()

    async def reply(
        self, event: InboundEvent, markdown: str, *, turn: str = "", last: bool = True
    ) -> None:
        """Send one part of the answer to ``event``."""
        assert self.adapter is not None
        await self.adapter.send(
            Part(
                key=f"{event.message}.{markdown[:10]}",
                address=address(event),
                content=parse(markdown),
                turn=TurnId(turn) if turn else None,
                reply_to=event.message,
                last=last,
            )
        )

    def _spawn(self, answering: Awaitable[None]) -> None:
        async def run() -> None:
            await answering

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def address(event: InboundEvent) -> Address:
    """Return where answers to ``event`` go."""
    return Address(event.platform, event.account, event.place.id)
