"""Pages to look at."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from gateway.model.ids import TurnId
from gateway.web import auditing, configuration, deliveries, health, pairing, sessions, traces
from gateway.web.access import AnyVisitor, JudgedFirst, TheParts
from gateway.web.pages.common import show

router = APIRouter(route_class=JudgedFirst)

Word = Annotated[str, Query(max_length=200)]


@router.get("/")
async def show_health(request: Request, parts: TheParts, visitor: AnyVisitor) -> Response:
    """Connections, lanes, memory service."""
    return show(request, visitor, "health.html", live=True, health=await health.view(parts))


@router.get("/pairing")
async def show_pairing(request: Request, parts: TheParts, visitor: AnyVisitor) -> Response:
    """Who waits, and who was let in."""
    found = await pairing.view(parts)
    return show(request, visitor, "pairing.html", live=True, pairing=found)


@router.get("/sessions")
async def show_sessions(
    request: Request, parts: TheParts, visitor: AnyVisitor, q: Word = ""
) -> Response:
    """Memory sessions, the newest first."""
    found = await sessions.view(parts, having=q)
    return show(
        request, visitor, "sessions.html", live=True, sessions=found, q=q, most=sessions.MOST
    )


@router.get("/sessions/{name}")
async def show_session(
    request: Request, parts: TheParts, visitor: AnyVisitor, name: str
) -> Response:
    """One memory session."""
    found = await sessions.detail(parts, name)
    return show(request, visitor, "session.html", live=True, session=found)


@router.get("/deliveries")
async def show_deliveries(
    request: Request, parts: TheParts, visitor: AnyVisitor, state: Word = ""
) -> Response:
    """What has not arrived."""
    found = await deliveries.view(parts, state)
    return show(request, visitor, "deliveries.html", live=True, deliveries=found, state=state)


@router.get("/traces")
async def show_traces(
    request: Request, parts: TheParts, visitor: AnyVisitor, peer: Word = "", state: Word = ""
) -> Response:
    """The newest turns."""
    found = await traces.view(parts, peer=peer, state=state)
    return show(request, visitor, "traces.html", live=True, turns=found, peer=peer, state=state)


@router.get("/traces/{turn}")
async def show_trace(
    request: Request, parts: TheParts, visitor: AnyVisitor, turn: str
) -> Response:
    """One message's way."""
    found = await traces.detail(parts, TurnId(turn))
    return show(request, visitor, "trace.html", live=True, trace=found.found)


@router.get("/audit")
async def show_audit(
    request: Request, parts: TheParts, visitor: AnyVisitor, action: Word = "", who: Word = ""
) -> Response:
    """Who decided what."""
    found = await auditing.view(parts, action=action, who=who)
    return show(request, visitor, "audit.html", live=True, audit=found, action=action, who=who)


@router.get("/settings")
async def show_settings(request: Request, parts: TheParts, visitor: AnyVisitor) -> Response:
    """What config check finds."""
    found = await configuration.view(parts)
    return show(request, visitor, "settings.html", live=True, settings=found)
