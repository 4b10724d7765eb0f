"""A Slack with one team for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.emulators.slack import SlackEmulator
from tests.integration.slack.support import HurriedClock, MemoryIntake

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def slack() -> AsyncIterator[SlackEmulator]:
    async with SlackEmulator() as emulator:
        emulator.bot()
        emulator.delivery.ack_seconds = 0.3
        emulator.delivery.retry_seconds = (0.0, 0.05, 0.1)
        yield emulator


@pytest.fixture
def intake() -> MemoryIntake:
    return MemoryIntake()


@pytest.fixture
def clock() -> HurriedClock:
    return HurriedClock()
