"""What machines ask every few seconds; without sign-in only from this machine itself."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from gateway.model.errors import StoreError
from gateway.web import health
from gateway.web.access import TheParts, from_here, known_visitor
from gateway.web.metrics import exposition

_bearer = HTTPBearer(auto_error=False)


async def _known_or_here(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> None:
    if not from_here(request):
        await known_visitor(request, bearer)


router = APIRouter(include_in_schema=False, dependencies=[Depends(_known_or_here)])


@router.get("/healthz")
async def alive() -> Response:
    """Say that the process answers; nothing else is asked."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz")
async def ready(parts: TheParts) -> Response:
    """Say whether the database answers and every connection can work."""
    try:
        found = await health.view(parts)
    except StoreError as error:
        return JSONResponse({"status": "not ready", "problems": [str(error)]}, 503)
    status = "ready" if found.ready else "not ready"
    content = {"status": status, "problems": found.problems}
    return JSONResponse(content, 200 if found.ready else 503)


@router.get("/metrics")
async def metrics(parts: TheParts) -> Response:
    """Return the numbers for Prometheus."""
    found = await health.view(parts)
    return Response(
        exposition(found, parts.clock.now()),
        media_type="text/plain; version=0.0.4; charset=utf-8",
    )
