"""From a name that an operator types, or an account, to all that is that person's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model.errors import GatewayError
from gateway.model.ids import PeerId
from gateway.people import census
from gateway.people.census import CONSOLE, written
from gateway.store import statements
from gateway.store.estate import Estate, former_peers
from gateway.store.tables import turn

if TYPE_CHECKING:
    from gateway.pipeline.rules import Current
    from gateway.store.engine import Connection
    from gateway.store.people import Account


class NobodyError(GatewayError):
    """There is no such person."""

    code = "nobody"


@dataclass(frozen=True, slots=True)
class Owner:
    """A person with all that is theirs."""

    peer: PeerId
    estate: Estate


def owner_of(conn: Connection, who: str, current: Current) -> Owner:
    """Return the person whom a peer's name or an account (``telegram:42``) means.

    Raises ``NobodyError``; the agent is nobody, too.
    """
    found = census.take(conn).resolve(current.rules.identity, stand_in=current.stand_in)
    accounts = {written(one) or CONSOLE.platform: one for one in found}
    peer = found[accounts[who]].peer if who in accounts else PeerId(who)
    if peer == current.rules.agent_peer:
        raise NobodyError(f"{who} is the agent, not a person")
    theirs = [one for one, identity in found.items() if identity.peer == peer]
    if not theirs and not _spoke(conn, peer):
        raise NobodyError(f"nobody is called {who}; see: hermes-gateway people list")
    return Owner(peer, _estate(conn, peer, theirs))


def _estate(conn: Connection, peer: PeerId, accounts: list[Account]) -> Estate:
    return Estate(frozenset({peer, *former_peers(conn, accounts)}), tuple(accounts))


def _spoke(conn: Connection, peer: PeerId) -> bool:
    return statements.count(conn, turn, turn.c.peer == peer) > 0
