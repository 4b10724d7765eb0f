"""What all routes share: path parameters, pages, answers."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, Depends, Path, Query, Request
from fastapi.responses import JSONResponse

from gateway.memory.embedded import wire
from gateway.memory.embedded.deriver import DEFAULT_LIMIT, Wish
from gateway.memory.embedded.errors import NotFoundError
from gateway.memory.embedded.memory import Memory
from gateway.memory.embedded.values import Json, SessionRef, Window


async def _memory(request: Request) -> Memory:
    memory: Memory = request.app.state.memory
    return memory


async def _window(
    page: Annotated[int, Query(ge=1)] = 1,
    size: Annotated[int, Query(ge=1, le=100)] = 50,
    reverse: Annotated[bool | None, Query()] = None,
) -> Window:
    return Window(page, size, bool(reverse))


_id = Path(min_length=1, max_length=wire.MAX_ID, pattern=wire.ID_PATTERN)

TheMemory = Annotated[Memory, Depends(_memory)]
TheWindow = Annotated[Window, Depends(_window)]
WorkspaceId = Annotated[str, _id]
PeerId = Annotated[str, _id]
SessionId = Annotated[str, _id]
Listing = Annotated[wire.Listing | None, Body()]


async def _session(workspace_id: WorkspaceId, session_id: SessionId) -> SessionRef:
    return SessionRef(workspace_id, session_id)


TheSession = Annotated[SessionRef, Depends(_session)]


def answer(content: Any, status: int = 200) -> JSONResponse:
    """Return JSON that is already in the API's shape."""
    return JSONResponse(content, status)


def got(view: Json, created: bool) -> JSONResponse:
    """Return what was got (200) or created (201)."""
    return answer(view, 201 if created else 200)


def filters(listing: wire.Listing | None) -> Json | None:
    """Return the filters of an optional body."""
    return listing.filters if listing else None


def configuration(given: Any) -> Json | None:
    """Return the keys of a configuration that are set."""
    return None if given is None else given.model_dump(exclude_none=True)


def wish(part: wire.Part) -> Wish:
    """Return the wish that a request's fields express."""
    return Wish(part.search_query or "", part.max_conclusions or DEFAULT_LIMIT, part.search_top_k)


def refuse_scope(scope: object) -> None:
    """Raise ``NotFoundError`` for any scope: to leave it out would widen what is told."""
    if scope:
        raise NotFoundError("This service keeps no scopes; leave 'scope' out")
