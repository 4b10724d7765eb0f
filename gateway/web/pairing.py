"""Who asks to be let in, who was, and what an operator does about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.errors import GatewayError
from gateway.pipeline.addresses import written
from gateway.store import pairing, people
from gateway.web.shapes import GrantView, PairingView, RequestView

if TYPE_CHECKING:
    from gateway.store.engine import Connection
    from gateway.store.pairing import Request
    from gateway.web.doors import Visitor
    from gateway.web.parts import Parts
    from gateway.web.shapes import Admin, Approval


class NotLetInError(GatewayError):
    """This account was not let in by pairing."""

    code = "not_let_in"


async def view(parts: Parts) -> PairingView:
    """Return the waiting requests and the grants, the oldest first."""
    now = parts.clock.now()

    def look(conn: Connection) -> PairingView:
        return PairingView(
            waiting=[_request(one) for one in pairing.waiting(conn, None, now=now)],
            granted=[
                GrantView(
                    account=written(people.Account(row.platform, row.scope, row.user_id)),
                    name=row.name or "",
                    admin=row.admin,
                    granted_by=row.granted_by,
                    granted_at=row.granted_at,
                )
                for row in people.grants(conn)
            ],
        )

    return await parts.store.read(look)


def _request(request: Request) -> RequestView:
    return RequestView(
        id=request.id,
        account=written(request.account),
        asked_at=request.created_at,
        expires_at=request.expires_at,
    )


async def approve(parts: Parts, visitor: Visitor, approval: Approval) -> RequestView:
    """Let the account behind a code in. Raises ``PairingError``; a wrong code is counted."""
    done = await parts.store.write(
        lambda tx: parts.pairing.approve(tx, approval.code, admin=approval.admin, by=visitor.name)
    )
    if isinstance(done, GatewayError):
        raise done
    return _request(done)


async def turn_away(parts: Parts, visitor: Visitor, request_id: str) -> RequestView:
    """Turn a waiting account away; nobody is told. Raises ``PairingError``."""
    done = await parts.store.write(
        lambda tx: parts.pairing.turn_away(tx, request_id, by=visitor.name)
    )
    return _request(done)


async def revoke(parts: Parts, visitor: Visitor, account: str) -> None:
    """Take a grant away. Raises ``NotLetInError``."""
    if not await parts.store.write(lambda tx: parts.pairing.revoke(tx, account, by=visitor.name)):
        raise NotLetInError


async def set_admin(parts: Parts, visitor: Visitor, wish: Admin) -> None:
    """Make an account an admin or no longer one. Raises ``NotLetInError``."""
    if not await parts.store.write(
        lambda tx: parts.pairing.set_admin(tx, wish.account, admin=wish.admin, by=visitor.name)
    ):
        raise NotLetInError
