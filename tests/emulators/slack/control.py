"""What tests in other processes may do with the emulator; see ``tests.emulators.control``."""

from __future__ import annotations

import base64
import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.emulators.slack.emulator import SlackEmulator

_ACTIONS = """
bot user channel archive remove_bot revoke revoke_app say mention thread share_file bot_say edit
unfurl delete push command click messages answers status fail rate_limit drop lose truncate
malformed slow calls attempts wait abort disconnect dead_tickets
"""
ACTIONS = frozenset(_ACTIONS.split())


async def run(emulator: SlackEmulator, action: str, body: dict[str, Any]) -> Any:
    """Do one of ``ACTIONS`` and return what can be JSON."""
    match action:
        case "calls":
            return [dataclasses.asdict(call) for call in emulator.calls]
        case "attempts":
            return [dataclasses.asdict(attempt) for attempt in emulator.delivery.attempts]
        case "wait":
            return await emulator.wait_for(body.pop("count"), **body)
        case "bot":
            return dataclasses.asdict(emulator.bot(**body))
        case "share_file":
            content = base64.b64decode(body.pop("content"))
            return emulator.share_file(content, address=emulator.address, **body)
        case "abort":
            return emulator.sockets.abort()
        case "disconnect":
            return await emulator.sockets.disconnect(**body)
        case "dead_tickets":
            emulator.sockets.dead_tickets = body["count"]
            return None
    return getattr(emulator, action)(**body)
