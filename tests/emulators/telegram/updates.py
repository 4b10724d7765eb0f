"""One bot's queue of updates with the exact rules of getUpdates.

Left out: the three seconds that Telegram holds back a poll which repeats its offset at once.
"""

from __future__ import annotations

import asyncio
from typing import Any

from tests.emulators.telegram.catalog import DEFAULT_KINDS, KINDS
from tests.emulators.telegram.errors import ApiError

Json = dict[str, Any]

MOST_IN_ONE_ANSWER = 100
#: an offset further ahead than this is taken for another queue's and ignored
_FUTURE = 10

_SECOND_POLL = (
    "Conflict: terminated by other getUpdates request; "
    "make sure that only one bot instance is running"
)


class UpdateQueue:
    """Updates wait here until an offset confirms them; ``history`` keeps all of them."""

    def __init__(self, first_id: int) -> None:
        self.next_id = first_id
        self.allowed = DEFAULT_KINDS
        self.history: dict[int, Json] = {}
        self._pending: list[Json] = []
        self._again: list[Json] = []
        self._waiting: asyncio.Future[None] | None = None

    @property
    def pending(self) -> list[Json]:
        """Updates that nobody has confirmed, oldest first."""
        return [*self._again, *self._pending]

    def allow(self, kinds: list[str]) -> None:
        """Choose the kinds to receive from now on; an empty list means the default ones."""
        self.allowed = frozenset(kinds) & KINDS or DEFAULT_KINDS

    def put(self, body: Json) -> int | None:
        """Queue an update and return its id, or None when its kind is not wanted.

        Kinds that Telegram does not know yet always pass: they stand for future ones.
        """
        if body.keys() & KINDS and not body.keys() & self.allowed:
            return None
        update = {**body, "update_id": self.next_id}
        self.next_id += 1
        self.history[update["update_id"]] = update
        self._pending.append(update)
        self._wake()
        return int(update["update_id"])

    def redeliver(self, update_id: int) -> None:
        """Deliver an update once more under its old id, confirmed or not.

        What is not confirmed yet stands twice at its own place: answers go by the queue, and an
        offset behind the highest number in one may confirm all before it.
        """
        update = self.history[update_id]
        if update in self._pending:
            self._pending.insert(self._pending.index(update), update)
        else:
            self._again.append(update)
        self._wake()

    def clear(self) -> None:
        """Forget what is pending."""
        self._pending.clear()
        self._again.clear()

    async def poll(self, offset: int, limit: int, timeout: float) -> list[Json]:
        """Answer one getUpdates: confirm, then return or wait for updates."""
        self.confirm(offset)
        batch = self._batch(limit)
        if batch or timeout <= 0:
            return batch
        self.end_poll(ApiError(409, _SECOND_POLL))
        waiting = self._waiting = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(timeout):
                await waiting
        except TimeoutError:
            return []
        finally:
            if self._waiting is waiting:
                self._waiting = None
        return self._batch(limit)

    def end_poll(self, error: ApiError) -> None:
        """Fail the poll that waits now, if one does."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error)

    def confirm(self, offset: int) -> None:
        """Forget the updates below an offset; a negative one keeps so many of the last."""
        if offset < 0:
            self._pending = self._pending[offset:]
        elif offset <= self.next_id - 1 + _FUTURE:
            self._pending = [update for update in self._pending if update["update_id"] >= offset]

    def _batch(self, limit: int) -> list[Json]:
        batch = self.pending[:limit]
        self._again = self._again[len(batch) :]
        return batch

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)
