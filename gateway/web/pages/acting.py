"""Forms of the pages: each does one thing, then goes back and says so."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from gateway.web import deliveries, pairing
from gateway.web.access import JudgedFirst, Operator, TheParts
from gateway.web.api.common import PartId
from gateway.web.pages.common import act, typed
from gateway.web.shapes import Admin, Approval

router = APIRouter(route_class=JudgedFirst)


@router.post("/pairing/approve")
async def approve(request: Request, parts: TheParts, visitor: Operator) -> Response:
    """Let the account behind a code in."""
    form = await request.form()
    wish = Approval(code=typed(form, "code")[:100], admin=typed(form, "admin") == "yes")
    doing = pairing.approve(parts, visitor, wish)
    return await act(request, doing, done="Let in. The person was told.", back="/pairing")


@router.post("/pairing/turn-away")
async def turn_away(request: Request, parts: TheParts, visitor: Operator) -> Response:
    """Turn a waiting account away."""
    doing = pairing.turn_away(parts, visitor, typed(await request.form(), "request"))
    return await act(request, doing, done="Turned away. Nobody was told.", back="/pairing")


@router.post("/pairing/revoke")
async def revoke(request: Request, parts: TheParts, visitor: Operator) -> Response:
    """Take a grant away."""
    account = typed(await request.form(), "account")
    doing = pairing.revoke(parts, visitor, account)
    return await act(request, doing, done=f"{account} is no longer let in.", back="/pairing")


@router.post("/pairing/admin")
async def set_admin(request: Request, parts: TheParts, visitor: Operator) -> Response:
    """Make an account an admin, or no longer one."""
    form = await request.form()
    wish = Admin(account=typed(form, "account")[:2000], admin=typed(form, "admin") == "yes")
    said = "is an admin now" if wish.admin else "is no longer an admin"
    doing = pairing.set_admin(parts, visitor, wish)
    return await act(request, doing, done=f"{wish.account} {said}.", back="/pairing")


@router.post("/deliveries/{part}/retry")
async def retry(request: Request, parts: TheParts, visitor: Operator, part: PartId) -> Response:
    """Send a part again."""
    twice = typed(await request.form(), "twice") == "yes"
    doing = deliveries.retry(parts, visitor, part, twice=twice)
    return await act(request, doing, done=f"Part {part} is sent again.", back="/deliveries")


@router.post("/deliveries/{part}/give-up")
async def give_up(request: Request, parts: TheParts, visitor: Operator, part: PartId) -> Response:
    """Stop trying to send a part."""
    doing = deliveries.give_up(parts, visitor, part)
    return await act(request, doing, done=f"Part {part} is given up.", back="/deliveries")
