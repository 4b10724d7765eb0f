"""What tests in other processes may do with the emulator; see ``tests.emulators.control``."""

from __future__ import annotations

import base64
import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.emulators.discord.emulator import DiscordEmulator

_ACTIONS = """
bot user channel role grant thread dm file say forward webhook bot_say edit unfurl delete press
click dispatch duplicate block hide revoke fail limit page drop lose slow bucket cut kill_sessions
reconnect invalidate mute frame messages answers interaction calls wait
"""
ACTIONS = frozenset(_ACTIONS.split())


async def run(emulator: DiscordEmulator, action: str, body: dict[str, Any]) -> Any:
    """Do one of ``ACTIONS`` and return what can be JSON."""
    match action:
        case "calls":
            return [dataclasses.asdict(call) for call in emulator.calls]
        case "wait":
            return await emulator.wait_for(body.pop("count"), **body)
        case "bot":
            return emulator.bot(**body).user
        case "file":
            return emulator.file(content=base64.b64decode(body.pop("content")), **body)
        case "grant":
            return emulator.grant(body.pop("user"), *body.pop("roles"), **body)
        case "interaction":
            return dataclasses.asdict(emulator.interaction(**body))
    return getattr(emulator, action)(**body)
