"""What an operator asks for, as changes of the identity keys. Pure; refusals name the remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gateway.model.errors import ConfigurationError
from gateway.people.census import CONSOLE, runtime_id, written
from gateway.policy import identity_change as policy
from gateway.policy import naming
from gateway.policy.generated import prefixed_name
from gateway.policy.identity import Rung
from gateway.policy.identity_change import Change
from gateway.settings import accounts, scalars
from gateway.settings.nodes import Scalar, Source, Style
from gateway.settings.scalars import RefusedError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from gateway.model.ids import PeerId
    from gateway.people.preview import Ground
    from gateway.policy.identity import Identity
    from gateway.store.people import Account

#: a Slack team or organisation
_TEAM = re.compile(r"[TE][A-Z0-9]+")

_PINNED = (
    'pinUserPeer is true, so everybody is "{name}": to give everybody a memory of their own run '
    "hermes-gateway people split everyone"
)


_NOBODY = "is no account's id; write it exactly as the platform shows it; names are no ids"


def alias_change(targets: Mapping[str, str | None], platforms: Collection[str]) -> Change:
    """Return the change for entries as they were typed. Raises ``ConfigurationError``.

    What stands in the file already may be removed, whatever it is.
    """
    found: dict[str, str | None] = {}
    for typed, target in targets.items():
        key = clean_key(typed, platforms)
        bare = key.partition(":")[0] not in platforms
        if target is not None and bare and not accounts.may_be_somebody(key):
            raise ConfigurationError(f"{typed[:60]!r} {_NOBODY}")
        found[key] = None if target is None else clean_name(target)
    return Change.of_aliases(found)


def clean_key(typed: str, platforms: Collection[str]) -> str:
    """Return an account as the file has it. Raises ``ConfigurationError``."""
    try:
        key = accounts.bare_or_qualified(_typed(typed), platforms)
    except RefusedError as refused:
        raise ConfigurationError(f"{typed[:60]!r} {refused.problem}") from None
    head, colon, _ = key.partition(":")
    if colon and head not in platforms and not _TEAM.fullmatch(head):
        known = ", ".join(sorted(platforms))
        raise ConfigurationError(f"no platform is called {head[:30]!r}; there are {known}")
    return key


def clean_name(typed: str) -> str:
    """Return a person's name as the file has it. Raises ``ConfigurationError``."""
    try:
        name = scalars.name(_typed(typed))
    except RefusedError as refused:
        raise ConfigurationError(f"{typed[:60]!r} {refused.problem}") from None
    if not name:
        raise ConfigurationError("the person's name is empty; write for example: mira")
    return name


def _typed(text: str) -> Scalar:
    return Scalar(text, Style.QUOTED, Source(None))


def merge_change(ground: Ground, source: str, into: str) -> Change:
    """Return the change by which all accounts of ``source`` become ``into``'s.

    Raises ``ConfigurationError`` where there is no such person or nothing to do.
    """
    into = clean_name(into)
    if ground.rules.pin:
        raise ConfigurationError(_PINNED.format(name=ground.rules.peer_name))
    theirs = _accounts_of(ground, source)
    if naming.is_legal(into) and into == source:
        raise ConfigurationError(f"{source} and {into} are one person already")
    values: dict[policy.Path, policy.Value | None] = {
        (policy.ALIASES, key): into for key in _entries_of(ground, source)
    }
    for account, identity in theirs.items():
        if account == CONSOLE:
            values[policy.PEER_NAME] = into
        elif identity.rung is not Rung.ALIAS:
            values[policy.ALIASES, runtime_id(account).qualified] = into
    if not values:
        raise ConfigurationError(f"there is no person {source}; see: hermes-gateway people list")
    return Change(values)


def split_change(ground: Ground, account: str, to: str | None = None) -> Change:
    """Return the change by which one account becomes a person of its own.

    ``to`` names that person; None lets the account go by its id. Raises ``ConfigurationError``.
    """
    if ground.rules.pin:
        raise ConfigurationError(_PINNED.format(name=ground.rules.peer_name))
    found = ground.resolve(ground.rules)
    mine = next((one for one in found if account in _spellings(one)), None)
    if mine is None:
        return _split_unseen(ground, account, to)
    if mine == CONSOLE:
        raise ConfigurationError(
            "the console's person is peerName in honcho.json: merge renames it, split the others"
        )
    qualified, identity = runtime_id(mine).qualified, found[mine]
    if to is not None:
        return Change.of_aliases({qualified: clean_name(to)})
    for change in _ways_out(ground, qualified, mine):
        after = ground.resolve(policy.changed(ground.rules, change))
        if after[mine].peer != identity.peer:
            return change
    raise ConfigurationError(
        f"{account} goes by its own id already, which is {identity.peer}: name the person that "
        "it is to be with --to NAME"
    )


def unpin_change(ground: Ground) -> Change:
    """Return the change by which everybody gets a memory of their own."""
    if not ground.rules.pin:
        raise ConfigurationError("pinUserPeer is false: everybody has a memory of their own")
    return Change({policy.PIN: None})


def _split_unseen(ground: Ground, account: str, to: str | None) -> Change:
    if account not in ground.rules.aliases:
        raise ConfigurationError(
            f"{account} has not written and has no alias; see: hermes-gateway people list"
        )
    return Change.of_aliases({account: None if to is None else clean_name(to)})


def _ways_out(ground: Ground, qualified: str, account: Account) -> Iterator[Change]:
    """Yield what may part an account: without its entry, else with its own id as its name."""
    if qualified in ground.rules.aliases:
        yield Change.of_aliases({qualified: None})
    team = ground.rules.bare_team or ground.census.bare_team
    own = prefixed_name(ground.rules.prefix, runtime_id(account), team)
    yield Change.of_aliases({qualified: own})


def _accounts_of(ground: Ground, peer: str) -> dict[Account, Identity]:
    found = ground.resolve(ground.rules)
    return {account: one for account, one in found.items() if one.peer == _peer(peer)}


def _entries_of(ground: Ground, peer: str) -> list[str]:
    wanted = _peer(peer)
    return [key for key, name in ground.rules.aliases.items() if _peer(name) == wanted]


def _peer(name: str) -> PeerId | str:
    return next(naming.candidates(name)) if name else name


def _spellings(account: Account) -> tuple[str, ...]:
    if account == CONSOLE:
        return ("console",)
    return (written(account), *runtime_id(account).platform_forms)
