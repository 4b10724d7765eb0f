"""What a change of the identity keys would do: pure, from a census and two sets of rules."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.people import plan
from gateway.people.census import Census, author_of, forms, written
from gateway.people.values import Estimate, Gathering, Move, Preview, Remains
from gateway.policy import identity_change as policy
from gateway.policy import identity_check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gateway.model.ids import PeerId
    from gateway.policy.identity import Identity, IdentityRules
    from gateway.policy.identity_change import Change
    from gateway.store.people import Account


@dataclass(frozen=True, slots=True)
class Ground:
    """What a preview stands on: who wrote, the rules in force, and the console's stand-in."""

    census: Census
    rules: IdentityRules
    stand_in: str

    @property
    def revision(self) -> str:
        return policy.revision(policy.keys(self.rules))

    def resolve(self, rules: IdentityRules) -> dict[Account, Identity]:
        return self.census.resolve(rules, stand_in=self.stand_in)


def preview(ground: Ground, change: Change) -> Preview:
    """Return what the change would do."""
    rules = policy.changed(ground.rules, change)
    before, after = ground.resolve(ground.rules), ground.resolve(rules)
    moved = [one for one in after if one in before and before[one].peer != after[one].peer]
    moves = tuple(_move(ground, one, before[one], after[one]) for one in moved)
    edits = policy.differences(policy.keys(ground.rules), policy.keys(rules))
    merges, splits = _gatherings(before, after)
    problems, warnings = _judge(ground, rules)
    return Preview(
        change=change,
        revision=ground.revision,
        edits=edits,
        moves=moves,
        merges=merges,
        splits=splits,
        awaited=tuple(_awaited(ground, change)),
        remains=tuple(_remains(ground, before, after)),
        rehoming=_estimate(ground, moves, after),
        warnings=warnings,
        problems=problems,
    )


def _move(ground: Ground, account: Account, before: Identity, after: Identity) -> Move:
    names = {one.account: one.name for one in ground.census.known}
    return Move(
        account=written(account),
        name=names.get(account, ""),
        before=before.peer,
        after=after.peer,
        rung_before=before.rung,
        rung_after=after.rung,
    )


def _gatherings(
    before: Mapping[Account, Identity], after: Mapping[Account, Identity]
) -> tuple[tuple[Gathering, ...], tuple[Gathering, ...]]:
    """Return which peers come together, and which come apart."""
    into: dict[PeerId, dict[PeerId, None]] = defaultdict(dict)
    apart: dict[PeerId, dict[PeerId, None]] = defaultdict(dict)
    for account, identity in after.items():
        if account in before:
            into[identity.peer][before[account].peer] = None
            apart[before[account].peer][identity.peer] = None
    return _several(into), _several(apart)


def _several(found: Mapping[PeerId, dict[PeerId, None]]) -> tuple[Gathering, ...]:
    return tuple(
        Gathering(peer, tuple(others)) for peer, others in found.items() if len(others) > 1
    )


def _awaited(ground: Ground, change: Change) -> Iterator[str]:
    """Yield the accounts of new entries that nobody has written from."""
    seen = {form for one in ground.census.known for form in forms(one)}
    for path, value in change.values.items():
        if path[0] == policy.ALIASES and value is not None and path[1] not in seen:
            yield path[1]


def _remains(
    ground: Ground, before: Mapping[Account, Identity], after: Mapping[Account, Identity]
) -> Iterator[Remains]:
    left: dict[PeerId, list[Account]] = defaultdict(list)
    for account, identity in before.items():
        if account in after and after[account].peer != identity.peer:
            left[identity.peer].append(account)
    for peer, accounts in left.items():
        shared = [
            one
            for one in ground.census.talk
            if one.peer is None and one.account in accounts and one.messages
        ]
        if shared:
            sessions, messages = (
                max(one.sessions for one in shared),
                sum(one.messages for one in shared),
            )
            yield Remains("groups", peer, sessions, messages)
            yield Remains("conclusions", peer)
        if any(one.peer == peer for one in after.values()):
            yield Remains("card", peer)
            yield Remains("files", peer)


def _estimate(
    ground: Ground, moves: tuple[Move, ...], after: Mapping[Account, Identity]
) -> Estimate:
    concerned = frozenset(str(peer) for one in moves for peer in (one.before, one.after))
    owners = {author_of(account): identity.peer for account, identity in after.items()}
    found = plan.tasks(
        ground.census.sources, ground.census.places, owners, groups=False, people=concerned
    )
    return plan.estimate(found)


def _judge(ground: Ground, rules: IdentityRules) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what forbids the new rules, and what an operator should know of them."""
    census = ground.census
    people = [one for one in census.known if one.kind == "person"]
    problems, warnings = identity_check.check(rules, teams=census.teams, shared=len(people) > 1)
    warnings += identity_check.generated_name_clashes(rules, census.runtime_ids())
    return tuple(problems), tuple(warnings)
