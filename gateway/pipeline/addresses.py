"""Whose event it is and where its answer goes; names of the pipeline's lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.outbound import Address
from gateway.store.people import Account
from gateway.store.places import PlaceKey

if TYPE_CHECKING:
    from gateway.model.events import InboundEvent

#: turns of one conversation, and the commands that wait for their place among them
TURN = "turn"
#: commands that run at once
COMMAND = "command"
#: parts for one place
DELIVER = "deliver"
#: turns that are kept open until memory has them
SETTLE = "settle"
#: what memory is asked for a person's next turn
PREFETCH = "prefetch"


def account_of(event: InboundEvent) -> Account:
    """Return the sender's account; its ``user_id`` is "" where there is none."""
    sender = event.sender
    return Account(event.platform, sender.scope or "", sender.id or "")


def address_of(event: InboundEvent) -> Address:
    """Return where an answer to ``event`` goes."""
    return Address(event.platform, event.account, event.place.id, event.place.thread)


def place_of(event: InboundEvent) -> PlaceKey:
    """Return the place that ``event`` happened in."""
    return PlaceKey(event.platform, event.account, event.place.id)


def written(account: Account) -> str:
    """Return an account as operators write it: ``telegram:42``, ``slack:T0:U0``."""
    return ":".join(filter(None, account))
