"""Getting payloads to the app: by socket or by signed POST, again and again until acknowledged."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import aiohttp

from tests.emulators.slack.world import SIGNING_SECRET

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.emulators.slack.sockets import Sockets

Json = dict[str, Any]


@dataclass(slots=True)
class Attempt:
    """One try to deliver one payload; ``acked`` is None while it runs."""

    payload: Json
    kind: str
    number: int
    acked: bool | None = None
    #: seconds since the epoch
    at: float = field(default_factory=time.time)


class Delivery:
    """Delivers like Slack: four tries, each with ``ack_seconds`` to answer.

    With ``events_url`` set, events are posted there, else they go over the sockets.
    """

    def __init__(self, sockets: Sockets, on_change: Callable[[], None]) -> None:
        self.ack_seconds = 3.0
        #: pauses before the second, third and fourth try
        self.retry_seconds: Sequence[float] = (0.0, 60.0, 300.0)
        self.events_url: str | None = None
        self.signing_secret = SIGNING_SECRET
        self.attempts: list[Attempt] = []
        self._sockets = sockets
        self._on_change = on_change
        self._tasks: set[asyncio.Task[None]] = set()
        self._envelopes = itertools.count(1)

    def deliver(self, payload: Json, kind: str = "events_api") -> None:
        """Deliver in the background; a burst starts in order."""
        task = asyncio.create_task(self._until_acked(payload, kind))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._on_change()

    async def aclose(self) -> None:
        """Give up everything that is not acknowledged yet."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def open(self) -> int:
        """How many payloads are neither acknowledged nor given up."""
        return len(self._tasks)

    async def _until_acked(self, payload: Json, kind: str) -> None:
        for number, pause in enumerate((0.0, *self.retry_seconds)):
            if pause:
                await asyncio.sleep(pause)
            attempt = Attempt(payload, kind, number)
            self.attempts.append(attempt)
            if self.events_url is None:
                attempt.acked = await self._by_socket(attempt)
                again = True
            else:
                attempt.acked, again = await self._by_post(attempt, self.events_url)
            self._on_change()
            if attempt.acked or not again:
                return

    async def _by_socket(self, attempt: Attempt) -> bool:
        envelope_id = f"env-{next(self._envelopes):06d}"
        envelope = {
            "envelope_id": envelope_id,
            "type": attempt.kind,
            "accepts_response_payload": attempt.kind != "events_api",
            "retry_attempt": attempt.number,
            "retry_reason": "timeout" if attempt.number else "",
            "payload": attempt.payload,
        }
        return await self._sockets.send(envelope_id, envelope, self.ack_seconds)

    async def _by_post(self, attempt: Attempt, url: str) -> tuple[bool, bool]:
        body, kind = json.dumps(attempt.payload), "application/json"
        if attempt.kind == "interactive":
            body, kind = urlencode({"payload": body}), "application/x-www-form-urlencoded"
        headers = self.signed(body) | {"Content-Type": kind}
        if attempt.number:
            headers |= {"X-Slack-Retry-Num": str(attempt.number)}
            headers |= {"X-Slack-Retry-Reason": "http_timeout"}
        try:
            async with (
                asyncio.timeout(self.ack_seconds),
                aiohttp.ClientSession() as session,
                session.post(url, data=body, headers=headers) as answer,
            ):
                return answer.status == 200, "X-Slack-No-Retry" not in answer.headers
        except (aiohttp.ClientError, TimeoutError):
            return False, True

    def signed(self, body: str, *, at: int | None = None) -> dict[str, str]:
        """Return the headers by which the app knows that Slack posts."""
        stamp = str(int(time.time()) if at is None else at)
        digest = hmac.new(
            self.signing_secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256
        ).hexdigest()
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}
