"""Accounts that their own people joined, and what an operator may do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.errors import ConfigurationError, GatewayError
from gateway.pipeline.addresses import written
from gateway.store import links
from gateway.store.people import Account
from gateway.web.identity_shapes import LinkRequestShape, LinkShape, LinksShape

if TYPE_CHECKING:
    from gateway.store.engine import Connection
    from gateway.web.doors import Visitor
    from gateway.web.parts import Parts


class NoLinkError(GatewayError):
    """No such link waits or holds."""

    code = "no_link"


async def view(parts: Parts) -> LinksShape:
    """Return every link, and those that wait for a yes."""
    now = parts.clock.now()

    def look(conn: Connection) -> LinksShape:
        return LinksShape(
            links=[
                LinkShape(
                    account=written(one.account), anchor=written(one.anchor), since=one.since
                )
                for one in links.listed(conn)
            ],
            waiting=[
                LinkRequestShape(
                    account=written(one.account),
                    other=written(one.other) if one.other else "",
                    expires_at=one.expires_at,
                )
                for one in links.in_state(conn, links.APPROVAL, now=now)
            ],
        )

    return await parts.store.read(look)


async def decide(parts: Parts, visitor: Visitor, code: str, *, yes: bool) -> None:
    """Say yes or no to a link that waits. Raises ``NoLinkError``."""
    act = parts.linking.approve if yes else parts.linking.deny
    if await parts.store.write(lambda tx: act(tx, code, by=visitor.name)) is None:
        raise NoLinkError("no link waits under this code")


async def separate(parts: Parts, visitor: Visitor, account: str) -> None:
    """Take an account's links away; its people are told. Raises ``NoLinkError``."""
    platform, *scope, user = account.split(":") if ":" in account else (account, "")
    if not platform or not user:
        raise ConfigurationError(f"{account}: not an account; write telegram:700100200")
    who = Account(platform, ":".join(scope), user)
    if not await parts.store.write(lambda tx: parts.linking.separate(tx, who, by=visitor.name)):
        raise NoLinkError(f"{account} is not linked")
