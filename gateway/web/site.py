"""The whole application: pages, API, probes; errors as each side reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import structlog
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from gateway import __version__
from gateway.model.errors import GatewayError
from gateway.web import api, pages, probes
from gateway.web.access import Attempts, known_visitor
from gateway.web.failures import headers_of, status_of
from gateway.web.guard import Guard
from gateway.web.pages.common import STATIC, failed

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from gateway.web.parts import Parts

log = structlog.get_logger(__name__)

_ABOUT = """
What the operator's page can do, for programs. Sign in with a token of
`hermes-gateway web token` as bearer token; a viewer's token looks, an operator's acts.
"""


def build(parts: Parts) -> ASGIApp:
    """Return the application."""
    app = FastAPI(
        title="Hermes Gateway",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
    )
    app.state.parts = parts
    app.state.attempts = Attempts(parts.clock)
    app.include_router(probes.router)
    app.include_router(api.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/api/openapi.json", include_in_schema=False, dependencies=[Depends(known_visitor)])
    async def describe() -> dict[str, Any]:
        return app.openapi()

    app.add_exception_handler(GatewayError, _failed)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    return Guard(app, parts.settings.web.host)


async def _failed(request: Request, error: Exception) -> Response:
    if not isinstance(error, GatewayError):
        raise error
    status = status_of(error)
    if status >= 500:
        log.warning("web.failed", action="web", code=error.code, error=str(error))
    return await _answer(request, status, error.code, str(error), headers_of(error))


async def _invalid(request: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    detail = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found)
    return await _answer(request, 422, "not_understood", detail, {})


async def _refused(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = str(error.detail) if isinstance(error, HTTPException) else ""
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    return await _answer(request, status, "http", detail, headers)


async def _answer(
    request: Request, status: int, code: str, detail: str, headers: dict[str, str]
) -> Response:
    if request.url.path.startswith("/api/"):
        # ASCII, because what is echoed may be no valid Unicode
        content = json.dumps({"code": code, "detail": detail})
        return Response(content, status, headers, "application/json")
    if request.url.path.startswith("/static/"):
        return JSONResponse({"detail": detail}, status, headers)
    return await failed(request, status, detail, headers)
