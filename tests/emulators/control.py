"""The control API of every emulator over HTTP, for tests in other processes.

``POST /_control/{action}``: the JSON body holds the keyword arguments of the emulator's method of
the same name; the answer is ``{"result": …}``, or 400 with ``{"error": …}``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


def control_route(
    actions: frozenset[str], run: Callable[[str, dict[str, Any]], Awaitable[Any]]
) -> web.RouteDef:
    """Return the route that hands the action and its arguments to ``run``."""

    async def control(request: web.Request) -> web.Response:
        action = request.match_info["action"]
        body = await request.json() if request.can_read_body else {}
        try:
            if action not in actions:
                raise ValueError(f"no action {action!r}; there are {', '.join(sorted(actions))}")
            result = await run(action, body)
        except (KeyError, TypeError, ValueError, TimeoutError) as error:
            return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)
        return web.json_response({"result": result})

    return web.post("/_control/{action}", control)
