"""The control API over HTTP, for tests in other processes: ``POST /_control/{action}``.

The JSON body holds the keyword arguments of the method of the same name; the answer is
``{"result": …}``, or 400 with ``{"error": …}``.
"""

from __future__ import annotations

import base64
import dataclasses
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from tests.emulators.slack.emulator import SlackEmulator

_ACTIONS = """
bot user channel archive remove_bot revoke revoke_app say mention thread share_file bot_say edit
unfurl delete push command messages answers status fail rate_limit drop lose truncate malformed
slow calls attempts wait abort disconnect dead_tickets
"""
ACTIONS = frozenset(_ACTIONS.split())


def control_route(emulator: SlackEmulator) -> web.RouteDef:
    """Return the route that drives ``emulator``."""

    async def control(request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else {}
        try:
            result = await _run(emulator, request.match_info["action"], body)
        except (KeyError, TypeError, ValueError, TimeoutError) as error:
            return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)
        return web.json_response({"result": result})

    return web.post("/_control/{action}", control)


async def _run(emulator: SlackEmulator, action: str, body: dict[str, Any]) -> Any:
    if action not in ACTIONS:
        raise ValueError(f"no action {action!r}; there are {', '.join(sorted(ACTIONS))}")
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
