"""The Discord gateway and REST API as a real server on 127.0.0.1, all state in memory."""

from __future__ import annotations

from tests.emulators.discord.emulator import DiscordEmulator
from tests.emulators.discord.world import CHANNEL, GUILD, TOKEN, USER, make_token

__all__ = ["CHANNEL", "GUILD", "TOKEN", "USER", "DiscordEmulator", "make_token"]
