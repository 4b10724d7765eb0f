"""Which of two accounts comes to hang on which, when their person joins them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gateway.policy.identity import Rung

if TYPE_CHECKING:
    from gateway.policy.identity import Identity


class Joining(StrEnum):
    """What becomes of the wish."""

    #: whoever entered the code comes to the one that asked for it
    OTHER_COMES = "other_comes"
    #: the other way round
    ASKER_COMES = "asker_comes"
    #: they are one person already
    ALREADY = "already"
    #: the operator has said of both whose they are, and not the same
    OPERATOR = "operator"
    #: one of them stands for nobody
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: whose it is now, and whether the operator said so."""

    peer: str
    rung: Rung
    by_operator: bool


def side(identity: Identity) -> Side:
    """Return how an account stands; what its own people linked is no word of the operator's."""
    said = identity.rung in (Rung.PIN, Rung.PEER_NAME) or (
        identity.rung is Rung.ALIAS and not identity.source.startswith("link ")
    )
    return Side(identity.peer, identity.rung, said)


def decide(asker: Side, other: Side) -> Joining:
    """Decide; the operator's word is never changed, so an account of theirs is come to."""
    if any(each.rung in (Rung.UNATTRIBUTED, Rung.SESSION) for each in (asker, other)):
        return Joining.NOBODY
    if asker.peer == other.peer:
        return Joining.ALREADY
    if not other.by_operator:
        return Joining.OTHER_COMES
    return Joining.OPERATOR if asker.by_operator else Joining.ASKER_COMES
