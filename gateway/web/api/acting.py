"""Routes that change something: for operators, and audited."""

from __future__ import annotations

from fastapi import APIRouter, Response

from gateway.model.ids import PeerId
from gateway.web import deliveries, identity, linking, pairing, remembering, sessions
from gateway.web.access import JudgedFirst, Operator, TheParts
from gateway.web.api.common import Name, PartId
from gateway.web.identity_shapes import Application, AppliedShape, LinkDecision
from gateway.web.shapes import (
    Admin,
    Approval,
    Deciding,
    Done,
    RequestView,
    Retry,
    Reveal,
    Revealed,
    SubAgent,
    SubAgentSession,
    WriteDecision,
)

router = APIRouter(route_class=JudgedFirst)


@router.post(
    "/identity/apply",
    tags=["identity"],
    responses={409: {"model": AppliedShape, "description": "Somebody else was faster"}},
)
async def apply_change(
    parts: TheParts, visitor: Operator, body: Application, response: Response
) -> AppliedShape:
    """Make a change that was previewed; 409 with what changed where somebody else was faster."""
    done = await identity.apply(parts, visitor, body)
    response.status_code = 200 if done.applied else 409
    return done


@router.post("/links/decide", tags=["identity"])
async def decide_link(parts: TheParts, visitor: Operator, body: LinkDecision) -> Done:
    """Say yes or no to a link that waits."""
    await linking.decide(parts, visitor, body.code, yes=body.yes)
    return Done()


@router.post("/links/remove", tags=["identity"])
async def remove_link(parts: TheParts, visitor: Operator, body: Deciding) -> Done:
    """Take an account's links away; its people are told."""
    await linking.separate(parts, visitor, body.account)
    return Done()


@router.post("/people/{peer}/reveal", tags=["people"])
async def reveal(parts: TheParts, visitor: Operator, peer: Name, body: Reveal) -> Revealed:
    """Show what is remembered of a person. The person is told, and it is audited."""
    await identity.person(parts, peer)
    return await remembering.reveal(parts, visitor, PeerId(peer), body.reason)


@router.post("/people/{peer}/writes/{write}", tags=["people"])
async def decide_write(
    parts: TheParts, visitor: Operator, peer: Name, write: Name, body: WriteDecision
) -> Done:
    """Let the agent write down what waits for a yes, or drop it."""
    await remembering.decide(parts, visitor, PeerId(peer), write, yes=body.yes)
    return Done()


@router.post("/pairing/approve", tags=["pairing"])
async def approve(parts: TheParts, visitor: Operator, body: Approval) -> RequestView:
    """Let the account behind a code in."""
    return await pairing.approve(parts, visitor, body)


@router.delete("/pairing/requests/{request_id}", tags=["pairing"])
async def turn_away(parts: TheParts, visitor: Operator, request_id: Name) -> RequestView:
    """Turn a waiting account away."""
    return await pairing.turn_away(parts, visitor, request_id)


@router.post("/pairing/revoke", tags=["pairing"])
async def revoke(parts: TheParts, visitor: Operator, body: Deciding) -> Done:
    """Take back what a pairing gave."""
    await pairing.revoke(parts, visitor, body.account)
    return Done()


@router.post("/pairing/admin", tags=["pairing"])
async def set_admin(parts: TheParts, visitor: Operator, body: Admin) -> Done:
    """Make an account that was let in an admin, or no longer one."""
    await pairing.set_admin(parts, visitor, body)
    return Done()


@router.post("/sessions", status_code=201, tags=["sessions"])
async def open_session(parts: TheParts, visitor: Operator, body: SubAgent) -> SubAgentSession:
    """Open a memory session for a sub-agent; its parent listens in silence."""
    return await sessions.open_for_agent(parts, visitor, body)


@router.post("/deliveries/{part}/retry", tags=["deliveries"])
async def retry(parts: TheParts, visitor: Operator, part: PartId, body: Retry) -> Done:
    """Send a failed part again; one that may have arrived only with ``twice``."""
    await deliveries.retry(parts, visitor, part, twice=body.twice)
    return Done()


@router.post("/deliveries/{part}/give-up", tags=["deliveries"])
async def give_up(parts: TheParts, visitor: Operator, part: PartId) -> Done:
    """Stop trying to send a part that waits."""
    await deliveries.give_up(parts, visitor, part)
    return Done()
