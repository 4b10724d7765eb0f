"""Coming in by a one-time link, and going."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from gateway.web.access import (
    AnyVisitor,
    JudgedFirst,
    NotAllowedError,
    TheParts,
    attempts_of,
    by_tls,
    client_of,
    is_private,
)
from gateway.web.doors import SESSION_HOLDS
from gateway.web.pages.common import outside, typed

router = APIRouter(route_class=JudgedFirst)

_SPENT = "This link was used already, or its ten minutes are over."


@router.get("/sign-in")
async def ask(
    request: Request, parts: TheParts, key: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """Show what a link opens. Looking uses nothing up: browsers and chats look at links too."""
    _must_be_private(request)
    attempts_of(request).check(client_of(request))
    role = await parts.doors.peek(key) if key else None
    if role is None:
        _count_wrong(request)
        return outside(request, "door.html", status=401, problem=_SPENT if key else "")
    return outside(request, "enter.html", key=key, role=role)


@router.post("/sign-in")
async def enter(request: Request, parts: TheParts) -> Response:
    """Use a link up and start a session."""
    _must_be_private(request)
    attempts_of(request).check(client_of(request))
    cookie = await parts.doors.enter(typed(await request.form(), "key"))
    if cookie is None:
        _count_wrong(request)
        return outside(request, "door.html", status=401, problem=_SPENT)
    response = RedirectResponse("/", 303)
    response.set_cookie(
        parts.doors.cookie,
        cookie,
        max_age=int(SESSION_HOLDS.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=by_tls(request),
    )
    return response


@router.post("/sign-out")
async def leave(request: Request, parts: TheParts, visitor: AnyVisitor) -> Response:
    """End the session."""
    await parts.doors.leave(request.cookies.get(parts.doors.cookie, ""), visitor)
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(parts.doors.cookie, path="/", httponly=True, samesite="strict")
    return response


def _must_be_private(request: Request) -> None:
    if not is_private(request):
        raise NotAllowedError(
            "anybody could read along here: put a proxy with TLS in front (it sets "
            "X-Forwarded-Proto), or open the page through an SSH tunnel"
        )


def _count_wrong(request: Request) -> None:
    """Pages of other sites can make a browser come here; they must not lock anybody out."""
    if request.headers.get("sec-fetch-site", "") in ("", "none", "same-origin"):
        attempts_of(request).wrong(client_of(request))
