"""The Telegram Bot API as a real server on 127.0.0.1, all state in memory."""

from __future__ import annotations

from tests.emulators.telegram.emulator import TelegramEmulator
from tests.emulators.telegram.people import TOKEN, USER

__all__ = ["TOKEN", "USER", "TelegramEmulator"]
