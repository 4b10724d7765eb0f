"""The service as an ASGI application: routes, the key at the door, errors in Honcho's shapes."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from gateway.memory.embedded.api import conclusions, messages, peers, sessions, workspaces
from gateway.memory.embedded.errors import RefusedError
from gateway.model.errors import GatewayError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from gateway.memory.embedded.memory import Memory

#: the version of Honcho whose API this is; clients ask for it at ``/openapi.json``
API_VERSION = "3.0.12"

_OPEN = frozenset({"/health", "/openapi.json"})


class Guard:
    """Lets only those in who bring the key; what is in ``_OPEN`` says nothing about anybody."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app = app
        self._expected = f"Bearer {key}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http" or scope["path"] in _OPEN:
            await self._app(scope, receive, send)
            return
        given = dict(scope["headers"]).get(b"authorization", b"")
        if secrets.compare_digest(given, self._expected):
            await self._app(scope, receive, send)
            return
        detail = "Invalid JWT" if given else "No access token provided"
        await JSONResponse({"detail": detail}, 401)(scope, receive, send)


def build(memory: Memory, key: str) -> ASGIApp:
    """Return the application; requests need ``key`` as their bearer token."""
    app = FastAPI(title="Embedded memory", version=API_VERSION, docs_url=None, redoc_url=None)
    app.state.memory = memory
    for each in (workspaces, peers, sessions, messages, conclusions):
        app.include_router(each.router)
    app.add_api_route("/health", health)
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(GatewayError, _failed)
    return Guard(app, key)


async def health() -> Response:
    """Say that the service is there; the database is not asked."""
    return JSONResponse({"status": "ok"})


async def _refused(_request: Request, error: Exception) -> Response:
    status = error.status if isinstance(error, RefusedError) else 422
    return JSONResponse({"detail": str(error)}, status)


async def _invalid(_request: Request, error: Exception) -> Response:
    """Tell what is wrong and echo it, as Honcho does: the client must not log this."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    # ASCII, because what is echoed may be no valid Unicode
    return Response(
        json.dumps({"detail": jsonable_encoder(found)}), 422, media_type="application/json"
    )


async def _failed(_request: Request, _error: Exception) -> Response:
    return JSONResponse({"detail": "The memory cannot answer at the moment"}, 503)
