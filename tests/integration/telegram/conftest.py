"""A Telegram with one bot for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.emulators.telegram.emulator import TelegramEmulator
from tests.integration.telegram.support import TOKEN, MemoryIntake, WatchingClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def tg() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        emulator.bot(TOKEN)
        yield emulator


@pytest.fixture
def intake() -> MemoryIntake:
    return MemoryIntake()


@pytest.fixture
def clock() -> WatchingClock:
    return WatchingClock()
