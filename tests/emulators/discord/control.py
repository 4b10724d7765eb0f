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
    from tests.emulators.discord.emulator import DiscordEmulator

_ACTIONS = """
bot user channel role grant thread dm file say forward webhook bot_say edit unfurl delete press
dispatch duplicate block hide revoke fail limit page drop lose slow bucket cut kill_sessions
reconnect invalidate mute frame messages answers interaction calls wait
"""
ACTIONS = frozenset(_ACTIONS.split())


def control_route(emulator: DiscordEmulator) -> web.RouteDef:
    """Return the route that drives ``emulator``."""

    async def control(request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else {}
        try:
            result = await _run(emulator, request.match_info["action"], body)
        except (KeyError, TypeError, ValueError, TimeoutError) as error:
            return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)
        return web.json_response({"result": result})

    return web.post("/_control/{action}", control)


async def _run(emulator: DiscordEmulator, action: str, body: dict[str, Any]) -> Any:
    if action not in ACTIONS:
        raise ValueError(f"no action {action!r}; there are {', '.join(sorted(ACTIONS))}")
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
