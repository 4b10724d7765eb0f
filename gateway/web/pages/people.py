"""People, one person, and what is remembered of them."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response

from gateway.model.ids import PeerId
from gateway.web import identity, remembering
from gateway.web.access import AnyVisitor, JudgedFirst, Operator, TheParts
from gateway.web.pages.common import act, say, show, typed
from gateway.web.remembering import NotRevealedError

router = APIRouter(route_class=JudgedFirst)

Word = Annotated[str, Query(max_length=200)]


@router.get("/people")
async def show_people(
    request: Request, parts: TheParts, visitor: AnyVisitor, q: Word = ""
) -> Response:
    """Everybody, with accounts and peers."""
    found = await identity.people(parts, q)
    return show(request, visitor, "people.html", live=True, people=found, q=q)


@router.get("/people/{peer}")
async def show_person(
    request: Request, parts: TheParts, visitor: AnyVisitor, peer: str
) -> Response:
    """One person: accounts, and how much is remembered."""
    found = await identity.person(parts, peer)
    memory = await remembering.view(parts, PeerId(peer))
    return show(request, visitor, "person.html", live=True, person=found, memory=memory)


@router.post("/people/{peer}/reveal")
async def reveal(request: Request, parts: TheParts, visitor: Operator, peer: str) -> Response:
    """What is remembered, in words. Nothing of it is kept: another look is another reveal."""
    found = await identity.person(parts, peer)
    reason = typed(await request.form(), "reason")
    try:
        revealed = await remembering.reveal(parts, visitor, PeerId(peer), reason)
    except NotRevealedError as error:
        return say(request, str(error), back=f"/people/{quote(peer)}", good=False)
    return show(request, visitor, "revealed.html", person=found, revealed=revealed, reason=reason)


@router.post("/people/{peer}/writes/{write}")
async def decide(
    request: Request, parts: TheParts, visitor: Operator, peer: str, write: str
) -> Response:
    """Let the agent write down what waits for a yes, or drop it."""
    yes = typed(await request.form(), "yes") == "yes"
    doing = remembering.decide(parts, visitor, PeerId(peer), write, yes=yes)
    done = "Written down." if yes else "Dropped."
    return await act(request, doing, done=done, back=f"/people/{quote(peer)}")
