"""What tests in other processes may do with the emulator; see ``tests.emulators.control``."""

from __future__ import annotations

import base64
import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.emulators.telegram.emulator import TelegramEmulator

_ACTIONS = """
bot user group topic file say edit click push duplicate delete block migrate revoke
fail drop lose truncate malformed slow flood messages answers pending calls wait
"""
ACTIONS = frozenset(_ACTIONS.split())


async def run(emulator: TelegramEmulator, action: str, body: dict[str, Any]) -> Any:
    """Do one of ``ACTIONS`` and return what can be JSON."""
    match action:
        case "calls":
            return [dataclasses.asdict(call) for call in emulator.calls]
        case "wait":
            return await emulator.wait_for(body.pop("count"), **body)
        case "bot":
            return emulator.bot(**body).user
        case "file":
            return emulator.file(base64.b64decode(body.pop("content")), **body)
    return getattr(emulator, action)(**body)
