"""Whose linked accounts are: each is whoever its anchor is, by the rules of the moment.

So when the operator names the anchor, all that hang on it follow.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.model.events import PlaceKind, Sender, SenderKind
from gateway.model.ids import AccountId, PlaceId, PlatformName, ScopeId, UserId
from gateway.pipeline.addresses import written
from gateway.policy.identity import resolve
from gateway.policy.session import KeyParts, build_key
from gateway.store import links, names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gateway.policy.identity import Identity, IdentityRules
    from gateway.policy.naming import Owner
    from gateway.store.engine import Connection
    from gateway.store.links import Link
    from gateway.store.people import Account

    #: the rules of a platform, without links
    RulesOf = Callable[[PlatformName], IdentityRules]


def rules_with_link(
    conn: Connection, account: Account, rules_of: RulesOf, alternatives: Iterable[str] = ()
) -> IdentityRules:
    """Return the rules for one account, with its link where it has one under any of its ids."""
    rules = rules_of(PlatformName(account.platform))
    ids = (account, *(account._replace(user_id=each) for each in alternatives))
    found = [one for each in ids if each.user_id and (one := links.of(conn, each))]
    if not found:
        return rules
    peers = linked_peers(found, rules_of, names.owner(conn, names.PEER))
    return replace(rules, links=peers)


def linked_peers(found: Iterable[Link], rules_of: RulesOf, owner: Owner) -> dict[str, str]:
    """Return the peer of each linked account, by the account as links are keyed."""
    return {written(one.account): _alone(one.anchor, rules_of, owner).peer for one in found}


def identity_of(conn: Connection, account: Account, rules_of: RulesOf) -> Identity:
    """Resolve an account as its direct message would, links included."""
    rules = rules_with_link(conn, account, rules_of)
    return _alone(account, lambda _platform: rules, names.owner(conn, names.PEER))


def root_of(conn: Connection, account: Account, identity: Identity) -> Account:
    """Return the account that names an account's person: its anchor, where that is in force."""
    found = links.of(conn, account)
    return found.anchor if found and identity.source.startswith("link ") else account


def _alone(account: Account, rules_of: RulesOf, owner: Owner) -> Identity:
    platform = PlatformName(account.platform)
    place = PlaceId(account.user_id or account.platform)
    parts = KeyParts("default", platform, AccountId(""), PlaceKind.DIRECT, place)
    sender = Sender(SenderKind.OPERATOR)
    if account.user_id:
        scope = ScopeId(account.scope) if account.scope else None
        sender = Sender(SenderKind.PERSON, UserId(account.user_id), scope)
    return resolve(sender, platform, build_key(parts), rules_of(platform), owner=owner)
