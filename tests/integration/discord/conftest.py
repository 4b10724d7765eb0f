"""A Discord with one bot and one channel for each test."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

with warnings.catch_warnings():
    # discord.py imports audioop, for voice that nobody uses
    warnings.simplefilter("ignore", DeprecationWarning)
    import discord as _library  # noqa: F401  (imported once, before any test module)

from tests.emulators.discord import DiscordEmulator
from tests.integration.discord.support import MemoryIntake, WatchingClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def dc() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        emulator.bot()
        emulator.channel()
        yield emulator


@pytest.fixture
def intake() -> MemoryIntake:
    return MemoryIntake()


@pytest.fixture
def clock() -> WatchingClock:
    return WatchingClock()
