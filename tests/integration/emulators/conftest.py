"""One emulator and one unmodified python-telegram-bot client per test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import telegram

from tests.emulators.telegram import TOKEN, TelegramEmulator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture(autouse=True)
def _new_retry_after(monkeypatch: pytest.MonkeyPatch) -> None:
    # without it python-telegram-bot warns whenever it makes a RetryAfter
    monkeypatch.setenv("PTB_TIMEDELTA", "true")


@pytest.fixture
async def tg() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        emulator.bot()
        yield emulator


@pytest.fixture
async def bot(tg: TelegramEmulator) -> AsyncIterator[telegram.Bot]:
    client = telegram.Bot(TOKEN, base_url=tg.base_url, base_file_url=tg.base_file_url)
    async with client:
        yield client
