"""The way in: one typed or piped message becomes a stored event and an open question."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from adapters.console.desk import Desk, Question
from adapters.console.parse import ACCOUNT, parse_line
from gateway.model.errors import StoreError
from gateway.ports import Received

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.console.sink import Screen
    from gateway.model.events import InboundEvent
    from gateway.model.ids import MessageId, PlaceId
    from gateway.ports import Clock, Intake

#: seconds before the first try again, doubled up to the longest
_FIRST_RETRY, _LONGEST_RETRY = 0.2, 5.0


class Inlet:
    """Hands messages of all consoles of one place to the core."""

    def __init__(
        self,
        intake: Intake,
        desk: Desk,
        *,
        clock: Clock,
        place: PlaceId,
        notice: Callable[[str], None],
    ) -> None:
        self._intake = intake
        self._desk = desk
        self._clock = clock
        self._place = place
        self._notice = notice

    async def receive(
        self, text: str, *, message: MessageId, screen: Screen, joinable: bool
    ) -> asyncio.Event:
        """Store one message; the event is set when its answer is complete.

        ``message`` is unique over restarts. A blank text asks nothing and is answered at once.
        """
        event = parse_line(
            text,
            message=message,
            sent_at=self._clock.now(),
            joinable=joinable,
            place=self._place,
        )
        if event is None:
            nothing = asyncio.Event()
            nothing.set()
            return nothing
        question = Question(message, screen, event.command is not None, joinable)
        self._desk.put(question)
        try:
            await self._store(event)
        except BaseException:
            self._desk.withdraw(question)
            raise
        return question.answered

    async def _store(self, event: InboundEvent) -> None:
        """Try until it is stored: nobody sends the line again."""
        received = Received(event.text.encode(errors="replace"), event.message, event)
        delay = _FIRST_RETRY
        while True:
            try:
                return await self._intake.accept((event.platform, ACCOUNT), [received])
            except StoreError as error:
                if delay == _FIRST_RETRY:
                    self._notice(f"The message is not stored yet, trying on: {error}")
            await self._clock.sleep(delay)
            delay = min(2 * delay, _LONGEST_RETRY)
