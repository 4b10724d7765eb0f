"""One nursery for all crash tests; a Telegram and a home for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crash.processes import CrashHome, Nursery
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.household import TOKEN

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    try:
        yield nursery
    finally:
        nursery.close()


@pytest.fixture
async def tg() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        emulator.bot(TOKEN)
        yield emulator


@pytest.fixture
async def crash_home(
    tmp_path: Path, tg: TelegramEmulator, nursery: Nursery
) -> AsyncIterator[CrashHome]:
    home = CrashHome(tmp_path, tg, nursery)
    try:
        yield home
    finally:
        home.end()
