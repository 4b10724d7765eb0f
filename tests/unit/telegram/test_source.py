"""The receive loop against a script: when it waits, how long it polls, when it is well again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from adapters.telegram.client import Client
from adapters.telegram.polling import Polling
from adapters.telegram.source import Source
from gateway.model.errors import ConflictError, Disposition, PlatformError, RateLimitedError
from gateway.model.ids import AccountId
from gateway.ports import ConnectionState
from tests.fakes.skipping import SkippingClock
from tests.unit.telegram.updates import ME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.telegram.words import Me
    from gateway.ports import Cursor, Received

TIMEOUT = PlatformError(code="timeout", disposition=Disposition.RETRY)
BROKEN = PlatformError(code="network", disposition=Disposition.RETRY)
ACCOUNT = AccountId("123456")
NOTHING: list[object] = []


class ScriptedClient(Client):
    """Answers polls from a script, then ends the loop; ``patience`` holds how long each waits."""

    def __init__(self, *script: object) -> None:
        self.script = list(script)
        self.patience: list[int] = []
        self.offsets: list[int | None] = []

    async def get_me(self) -> Me:
        return ME

    async def drop_webhook(self) -> bool:
        return False

    async def set_commands(self, commands: Sequence[tuple[str, str]]) -> None:
        assert commands == ()

    async def get_updates(self, offset: int | None, seconds: int) -> object:
        self.patience.append(seconds)
        self.offsets.append(offset)
        if not self.script:
            raise asyncio.CancelledError
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


class EmptyIntake:
    """Expects nothing."""

    async def accept(
        self, account: object, received: Sequence[Received], cursor: Cursor | None = None
    ) -> None:
        pytest.fail("there was nothing to accept")

    async def cursor(self, name: str) -> str | None:
        return None


class OpenIntake:
    """Takes everything."""

    async def accept(
        self, account: object, received: Sequence[Received], cursor: Cursor | None = None
    ) -> None:
        """See ``gateway.ports.Intake``."""

    async def cursor(self, name: str) -> str | None:
        return None


async def play(*script: object) -> tuple[list[float], list[int], ConnectionState]:
    """Return what was slept, how long each poll was, and the state before the end."""
    client, clock = ScriptedClient(*script), SkippingClock()
    polling = Polling(client, ACCOUNT, poll_seconds=30)
    source = Source(client, ACCOUNT, clock, polling, roll=lambda: 0.0)
    states: list[ConnectionState] = []
    polled = client.get_updates

    async def watched(offset: int | None, seconds: int) -> object:
        states.append(source.status.state)
        return await polled(offset, seconds)

    client.get_updates = watched  # type: ignore[method-assign]  # looks at the status in between
    with pytest.raises(asyncio.CancelledError):
        await source.run(EmptyIntake())
    assert source.status.state is ConnectionState.STOPPED
    return clock.slept, client.patience, states[-1]


@pytest.mark.parametrize(
    ("script", "slept", "patience", "state"),
    [
        ((NOTHING, NOTHING), [], [0, 30, 30], ConnectionState.CONNECTED),
        ((NOTHING, TIMEOUT, TIMEOUT), [], [0, 30, 0, 0], ConnectionState.RETRYING),
        ((BROKEN,) * 7, [1, 2, 4, 8, 16, 30, 30], [0] * 8, ConnectionState.RETRYING),
        ((BROKEN, BROKEN, NOTHING, BROKEN), [1, 2, 1], [0, 0, 0, 30, 0], ConnectionState.RETRYING),
        ((RateLimitedError(retry_after=99),), [99], [0, 0], ConnectionState.RETRYING),
        ((ConflictError(), ConflictError()), [1, 2], [0, 30, 30], ConnectionState.CONFLICT),
        ((ConflictError(), NOTHING), [1], [0, 30, 30], ConnectionState.CONNECTED),
    ],
)
async def test_waits_and_polls(
    script: tuple[object, ...], slept: list[float], patience: list[int], state: ConnectionState
) -> None:
    assert await play(*script) == (slept, patience, state)


@pytest.mark.parametrize(
    ("numbers", "offset"),
    [
        ((7, 8, 9), 10),
        ((3, 8, 9), 10),  # an old one once more, in front
        ((150, 1, 2), 3),  # one that is not due yet: 3 to 149 were not in the answer
    ],
)
async def test_confirms_nothing_that_was_not_in_the_answer(
    numbers: tuple[int, ...], offset: int
) -> None:
    client = ScriptedClient([{"update_id": number} for number in numbers])
    polling = Polling(client, ACCOUNT, poll_seconds=30)
    source = Source(client, ACCOUNT, SkippingClock(), polling, roll=lambda: 0.0)
    with pytest.raises(asyncio.CancelledError):
        await source.run(OpenIntake())
    assert client.offsets == [None, offset]
