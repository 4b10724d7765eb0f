"""People, accounts and aliases as they are shown; pure, from a census and the configuration."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gateway.model.events import SenderKind
from gateway.model.ids import PeerId
from gateway.people.census import CONSOLE, forms, written
from gateway.people.values import AccountView, AliasView, PersonView
from gateway.policy import naming

if TYPE_CHECKING:
    from gateway.people.preview import Ground
    from gateway.policy.identity import Identity
    from gateway.settings.nodes import Source
    from gateway.settings.read import Loaded
    from gateway.store.people import Account, Known

_NEVER = datetime.min.replace(tzinfo=UTC)


def accounts(ground: Ground, loaded: Loaded) -> tuple[AccountView, ...]:
    """Return every account that wrote, and the console's person."""
    found = ground.resolve(ground.rules)
    known = {one.account: one for one in ground.census.known}
    return tuple(
        _account(ground, loaded, account, known.get(account), identity)
        for account, identity in found.items()
    )


def _account(
    ground: Ground, loaded: Loaded, account: Account, known: Known | None, identity: Identity
) -> AccountView:
    talk = [one for one in ground.census.talk if _same(one.account, account)]
    return AccountView(
        key=written(account),
        platform=account.platform,
        scope=account.scope,
        user_id=account.user_id,
        kind=known.kind if known else SenderKind.OPERATOR,
        name=known.name if known else "",
        language=known.language if known else "",
        first_seen=known.first_seen if known else None,
        last_seen=known.last_seen if known else ground.census.console_seen,
        peer=identity.peer,
        rung=identity.rung,
        source=identity.source,
        recorded_in=_recorded_in(identity.source, loaded),
        sessions=sum(one.sessions for one in talk),
        messages=sum(one.messages for one in talk),
    )


def _same(said: Account, account: Account) -> bool:
    return said == account or said.platform == account.platform == CONSOLE.platform


def people(ground: Ground, loaded: Loaded, search: str = "") -> tuple[PersonView, ...]:
    """Return everybody, whoever wrote last first."""
    theirs: dict[PeerId, list[AccountView]] = defaultdict(list)
    for one in accounts(ground, loaded):
        theirs[one.peer].append(one)
    awaited: dict[PeerId, list[str]] = defaultdict(list)
    for alias in aliases(ground, loaded):
        peer = PeerId(next(naming.candidates(alias.target)))
        if not alias.accounts:
            awaited[peer].append(alias.key)
    owner = loaded.honcho.peer_name
    own = next(naming.candidates(owner)) if owner else None
    found = [
        PersonView(peer, tuple(theirs[peer]), tuple(awaited[peer]), owner=peer == own)
        for peer in dict.fromkeys((*theirs, *awaited))
    ]
    wanted = [one for one in found if _matches(one, search.strip().casefold())]
    return tuple(sorted(wanted, key=lambda one: one.last_seen or _NEVER, reverse=True))


def _matches(person: PersonView, search: str) -> bool:
    told = (person.peer, *person.names, *person.awaited, *(one.key for one in person.accounts))
    return not search or any(search in one.casefold() for one in told)


def aliases(ground: Ground, loaded: Loaded) -> tuple[AliasView, ...]:
    """Return the entries of the alias map in the file's order."""
    names: dict[str, list[str]] = defaultdict(list)
    for one in ground.census.known:
        first = next((form for form in forms(one) if form in ground.rules.aliases), None)
        if first is not None:
            names[first].append(written(one.account))
    return tuple(
        AliasView(key, target, _place(loaded.sources.get(key)), tuple(names[key]))
        for key, target in ground.rules.aliases.items()
    )


def _recorded_in(source: str, loaded: Loaded) -> str:
    if source == "peerName":
        return _place(loaded.key_sources.get("peerName"))
    for key, place in loaded.sources.items():
        if source == f'userPeerAliases["{key}"]':
            return _place(place)
    return ""


def _place(source: Source | None) -> str:
    if source is None or source.file is None:
        return source.variable if source is not None else ""
    return f"{source.file}:{source.line}"
