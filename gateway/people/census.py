"""Everybody who wrote, and whose each account is under given rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gateway.model.events import PlaceKind, Sender, SenderKind
from gateway.model.ids import AccountId, PlaceId, PlatformName, ScopeId, UserId
from gateway.pipeline.linked import linked_peers
from gateway.policy.identity import resolve
from gateway.policy.runtime_id import RuntimeId, runtime_ids
from gateway.policy.session import KeyParts, build_key
from gateway.store import facts, homes, links, names, people, talk
from gateway.store.facts import BARE_TEAM
from gateway.store.people import Account, Known

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gateway.model.ids import SessionId
    from gateway.policy.identity import Identity, IdentityRules
    from gateway.store.engine import Connection
    from gateway.store.homes import Home, Source
    from gateway.store.links import Link
    from gateway.store.talk import Talk

#: the console's person has no account of any platform
CONSOLE = Account("console", "", "")
_LISTED = (SenderKind.PERSON, SenderKind.BOT)


@dataclass(frozen=True, slots=True)
class Census:
    """One moment's people, without any rules."""

    known: tuple[Known, ...]
    #: names that stand for other texts than themselves, and those taken
    taken: Mapping[str, str]
    talk: tuple[Talk, ...]
    console_seen: datetime | None
    bare_team: ScopeId | None
    #: what people joined themselves
    links: tuple[Link, ...] = ()
    #: what was said, and where it stands at the memory service
    sources: tuple[Source, ...] = ()
    places: Mapping[SessionId, list[Home]] = field(default_factory=dict)

    @property
    def teams(self) -> frozenset[str]:
        """The Slack teams that somebody wrote from."""
        return frozenset(one.account.scope for one in self.known if one.account.scope)

    def resolve(self, rules: IdentityRules, *, stand_in: str) -> dict[Account, Identity]:
        """Return whose each account is; bots only where an alias makes them somebody."""
        rules = replace(rules, bare_team=rules.bare_team or self.bare_team)
        console = rules
        if not rules.peer_name and stand_in:
            console = replace(rules, peer_name=stand_in)
        plain = {PlatformName(CONSOLE.platform): console}
        peers = linked_peers(self.links, lambda one: plain.get(one, rules), self.taken.get)
        rules = replace(rules, links=peers)
        found = {
            one.account: self._resolve(one.account, _sender(one), rules) for one in self.known
        }
        found = {account: identity for account, identity in found.items() if identity.personal}
        found[CONSOLE] = self._resolve(CONSOLE, Sender(SenderKind.OPERATOR), console)
        return found

    def _resolve(self, account: Account, sender: Sender, rules: IdentityRules) -> Identity:
        platform = PlatformName(account.platform)
        place = PlaceId(account.user_id or account.platform)
        conversation = build_key(
            KeyParts("default", platform, AccountId(""), PlaceKind.DIRECT, place)
        )
        return resolve(sender, platform, conversation, rules, owner=self.taken.get)

    def runtime_ids(self) -> list[RuntimeId]:
        """Return the accounts of people as the policy knows them."""
        return [runtime_id(one.account) for one in self.known if one.kind == SenderKind.PERSON]


def take(conn: Connection, *, talk_too: bool = False, sessions_too: bool = False) -> Census:
    """Look at the store: at who wrote, and where asked for at how much, and where it stands.

    What was said is counted through the whole ledger, so ask only where it is shown.
    """
    team = facts.get(conn, BARE_TEAM)
    known = [one for one in people.known(conn) if one.kind in _LISTED]
    return Census(
        known=tuple(known),
        taken=names.taken(conn, names.PEER),
        talk=tuple(talk.counted(conn)) if talk_too else (),
        console_seen=talk.last_activity(conn, CONSOLE.platform),
        bare_team=None if team is None else ScopeId(team),
        links=tuple(links.listed(conn)),
        sources=tuple(homes.sources(conn)) if sessions_too else (),
        places=homes.of_all(conn) if sessions_too else {},
    )


NOBODY = Census((), {}, (), None, None)


def runtime_id(account: Account) -> RuntimeId:
    """Return an account as the policy knows it."""
    return RuntimeId(
        PlatformName(account.platform),
        UserId(account.user_id),
        ScopeId(account.scope) if account.scope else None,
    )


def written(account: Account) -> str:
    """Return an account as operators write it."""
    return ":".join(filter(None, account))


def author_of(account: Account) -> str:
    """Return what stands for an account where it is noted whose words stand where."""
    return homes.author(account, "")


def forms(one: Known) -> tuple[str, ...]:
    """Return every spelling of an account and its further ids, as the alias map is asked."""
    ids = runtime_ids(_sender(one), PlatformName(one.account.platform))
    return tuple(form for each in ids for form in each.forms)


def _sender(one: Known) -> Sender:
    return Sender(
        SenderKind(one.kind),
        UserId(one.account.user_id),
        ScopeId(one.account.scope) if one.account.scope else None,
        alternatives=tuple(UserId(each) for each in one.alternatives),
        name=one.name,
    )
