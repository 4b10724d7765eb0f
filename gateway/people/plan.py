"""Which sessions stand at the memory service for another peer than their speaker is now. Pure.

The plan is the difference between whose words they are and whose they stand as: made anew each
time, so that whatever happened meanwhile (a kill, another change, an undo) it ends where the
configuration of that moment says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

from gateway.people.values import Estimate
from gateway.policy.saving import BATCH
from gateway.store import homes
from gateway.store.homes import HomeState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gateway.model.ids import PeerId, SessionId
    from gateway.store.homes import Home, Peers, Source


#: requests to open a session at the service and read its two members' flags
OPENING = 4


@dataclass(frozen=True, slots=True)
class Task:
    """One session that is to stand elsewhere."""

    source: Source
    #: whose each author's words are
    peers: Peers
    #: whose they stand as at present; None where one author stands as several
    present: Mapping[str, PeerId | None]
    #: a place that holds them already, all or in part
    home: Home | None
    moved: tuple[str, ...] = field(default=())

    @property
    def shared(self) -> bool:
        return self.source.peer is None

    @property
    def people(self) -> frozenset[str]:
        """Everybody who gains or loses words by it."""
        sides = ((self.peers[one], self.present.get(one)) for one in self.moved)
        return frozenset(peer for side in sides for peer in side if peer is not None)

    @property
    def missing(self) -> int:
        """How many messages have to be sent, at most."""
        if self.home is None:
            return self.source.messages
        return 0 if self.home.original else max(0, self.source.last_seq - self.home.copied)

    @property
    def calls(self) -> int:
        """About how many requests it takes."""
        if not self.missing:
            return 0
        return OPENING + max(0, len(self.peers) - 1) + ceil(self.missing / BATCH)


def tasks(
    found: Iterable[Source],
    places: Mapping[SessionId, list[Home]],
    owners: Mapping[str, PeerId],
    *,
    groups: bool,
    people: frozenset[str] | None = None,
) -> list[Task]:
    """Return what is to be done, the oldest session first.

    ``owners``: author → peer of everybody who has an account. ``people``: only what concerns
    these; ``groups``: shared sessions too.
    """
    all_tasks = (_task(one, places.get(one.id, []), owners) for one in found)
    return [
        one
        for one in all_tasks
        if one is not None
        and (groups or not one.shared)
        and (people is None or one.people & people)
    ]


def _task(source: Source, places: list[Home], owners: Mapping[str, PeerId]) -> Task | None:
    present = standing(source, places)
    wanted = {
        one: owners.get(one) or frozen or _first(source, one) for one, frozen in present.items()
    }
    moved = tuple(one for one in wanted if wanted[one] != present[one])
    if not moved:
        return None
    signature = homes.sign(wanted)
    fitting = [one for one in places if one.signature == signature]
    return Task(source, wanted, present, fitting[-1] if fitting else None, moved)


def standing(source: Source, places: Iterable[Home]) -> dict[str, PeerId | None]:
    """Return whose each author's words stand as at present."""
    active = next((one for one in places if one.state is HomeState.ACTIVE), None)
    own = original(source)
    if active is None or active.original:
        return own
    return {one: active.peers.get(one, own[one]) for one in own}


def original(source: Source) -> dict[str, PeerId | None]:
    """Return whose each author's words stand as under the session's own name."""
    found: dict[str, PeerId | None] = {}
    for account, peer in source.voices:
        one = homes.author(account, peer)
        found[one] = peer if found.get(one, peer) == peer else None
    return found


def _first(source: Source, author: str) -> PeerId:
    return next(peer for account, peer in source.voices if homes.author(account, peer) == author)


def estimate(found: Iterable[Task]) -> Estimate:
    """Return what tasks take."""
    listed = list(found)
    return Estimate(
        sessions=len(listed),
        messages=sum(one.missing for one in listed),
        calls=sum(one.calls for one in listed),
    )


def leftovers(
    found: Iterable[Source], places: Mapping[SessionId, list[Home]], *, originals: bool
) -> Iterator[Home]:
    """Yield places that are nobody's any more: copies, and originals where asked for.

    Ask when no job is at work: a copy that was begun and is not wanted any more counts too. An
    original goes only where the session stands whole elsewhere and nothing is written to it.
    """
    for source in found:
        here = places.get(source.id, [])
        active = next((one for one in here if one.state is HomeState.ACTIVE), None)
        elsewhere = active is not None and not active.original and source.closed
        for one in here:
            if one.state is not HomeState.ACTIVE and (
                not one.original or (originals and elsewhere)
            ):
                yield one
