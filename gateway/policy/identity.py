"""Whose memory a message belongs to: the ladder of rungs, with a trace of every rung tried."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gateway.model.events import PlaceKind, Sender, SenderKind
from gateway.model.ids import PeerId
from gateway.policy import naming, parts
from gateway.policy.generated import generated_name, prefixed_name
from gateway.policy.runtime_id import runtime_ids
from gateway.policy.session import parse_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gateway.model.ids import ConversationKey, PlatformName, ScopeId
    from gateway.policy.naming import Owner
    from gateway.policy.runtime_id import RuntimeId


class Rung(StrEnum):
    """The rule that named the peer."""

    PIN = "pin"
    ALIAS = "alias"
    PREFIX = "prefix"
    RAW = "raw"
    PEER_NAME = "peer_name"
    SESSION = "session"
    #: not a person: the peer stands for nobody and gets no recall
    UNATTRIBUTED = "unattributed"


@dataclass(frozen=True, slots=True)
class IdentityRules:
    """The identity keys of the configuration, trimmed and NFC-normalised by its reader."""

    pin: bool
    peer_name: str
    #: the operator's map: any of ``RuntimeId.forms`` to a peer
    aliases: Mapping[str, str]
    #: confirmed links of the people themselves: ``RuntimeId.qualified`` to a peer
    links: Mapping[str, str]
    #: ``{platform}`` in it stands for the platform's name
    prefix: str
    ai_peer: str
    #: the Slack team whose user ids stand bare
    bare_team: ScopeId | None


@dataclass(frozen=True, slots=True)
class Step:
    """One rung that was tried; ``detail`` says why it matched or did not."""

    rung: Rung
    matched: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Who speaks. Frozen on the turn: retries and late writes never resolve again."""

    peer: PeerId
    rung: Rung
    #: every rung tried, in order, the winner last
    steps: tuple[Step, ...]
    #: the record that named the peer, e.g. ``userPeerAliases["telegram:7654321"]``
    source: str
    #: what ``peer`` was made from: store both, so that ``Owner`` can answer for later names
    original: str

    @property
    def personal(self) -> bool:
        """False where the peer stands for nobody: no recall and no personal tools."""
        return self.rung is not Rung.UNATTRIBUTED


@dataclass(frozen=True, slots=True)
class _Case:
    sender: Sender
    platform: PlatformName
    conversation: ConversationKey
    rules: IdentityRules
    owner: Owner
    accounts: tuple[RuntimeId, ...]

    @property
    def subject(self) -> str:
        return self.accounts[0].qualified if self.accounts else self.conversation


@dataclass(frozen=True, slots=True)
class _Named:
    peer: str
    original: str


@dataclass(frozen=True, slots=True)
class _Tried:
    detail: str
    source: str = ""
    named: _Named | None = None


def resolve(
    sender: Sender,
    platform: PlatformName,
    conversation: ConversationKey,
    rules: IdentityRules,
    *,
    owner: Owner,
) -> Identity:
    """Return the sender's peer with the whole trace; the first rung that matches wins.

    A bot has a peer of its own only through ``aliases``, pinned or not. The caller must store
    ``peer`` with ``original`` before it resolves the next sender. Raises ``ValueError`` when
    ``conversation`` is not a conversation key.
    """
    case = _Case(sender, platform, conversation, rules, owner, runtime_ids(sender, platform))
    steps: list[Step] = []
    for rung, attempt in _LADDER:
        tried = attempt(case)
        steps.append(Step(rung, tried.named is not None, tried.detail))
        if tried.named is not None:
            return _identity(rung, tried.source, tried.named, steps, case)
    detail = f"nothing else to go by than the conversation {conversation}"
    steps.append(Step(Rung.SESSION, True, detail))
    return _identity(Rung.SESSION, "conversation", _after_conversation("user", case), steps, case)


def _identity(rung: Rung, source: str, named: _Named, steps: list[Step], case: _Case) -> Identity:
    named = _apart_from_agent(named, case)
    return Identity(PeerId(named.peer), rung, tuple(steps), source, named.original)


# --- rungs -------------------------------------------------------------------------------------


def _nobody(case: _Case) -> _Tried:
    match case.sender.kind:
        case SenderKind.WEBHOOK if case.sender.id:
            name = parts.join(("webhook", case.platform, case.sender.id), "-")
            named = _Named(naming.assign(name, case.owner), name)
            return _Tried("a webhook is not a person", f"webhook {case.sender.id}", named)
        case SenderKind.WEBHOOK | SenderKind.SERVICE as kind:
            return _anonymous(case, f"a {kind.value} sender is not a person")
        case SenderKind.BOT:
            if _alias_key(case) is None:
                return _anonymous(case, "a bot without an entry in userPeerAliases")
            return _Tried("a bot with an entry in userPeerAliases")
        case SenderKind.OPERATOR:
            return _Tried("the channel has no users: its operator speaks")
    if case.accounts:
        return _Tried("the sender is a person")
    if parse_key(case.conversation).kind is PlaceKind.DIRECT:
        return _Tried("the sender cannot be read, but the conversation is one person's")
    return _anonymous(case, "the sender cannot be read in a place of many people")


def _anonymous(case: _Case, detail: str) -> _Tried:
    return _Tried(detail, "conversation", _after_conversation("anon", case))


def _pin(case: _Case) -> _Tried:
    name = case.rules.peer_name
    if not case.rules.pin:
        return _Tried("pinUserPeer is false")
    if case.sender.kind is SenderKind.BOT:
        return _Tried("pinUserPeer is for people, not for bots")
    if not name:
        return _Tried("pinUserPeer is true, but peerName is empty")
    return _Tried(f'pinUserPeer is true: everybody is "{name}"', "peerName", _set(name, case))


def _alias(case: _Case) -> _Tried:
    if not case.accounts:
        return _Tried("no runtime id to look up")
    key, link = _alias_key(case), _link_key(case)
    if key is not None:
        target = case.rules.aliases[key]
        source = f'userPeerAliases["{key}"]'
        detail = f'{source} is "{target}"{_overruled(case, link, target)}'
        return _Tried(detail, source, _set(target, case))
    if link is not None:
        target = case.rules.links[link]
        return _Tried(f'linked to "{target}" by {link}', f"link {link}", _set(target, case))
    tried = ", ".join(form for account in case.accounts for form in account.forms)
    return _Tried(f"neither userPeerAliases nor a confirmed link has {tried}")


def _alias_key(case: _Case) -> str | None:
    forms = (form for account in case.accounts for form in account.forms)
    return next((form for form in forms if form in case.rules.aliases), None)


def _link_key(case: _Case) -> str | None:
    if case.sender.kind is SenderKind.BOT:
        return None
    keys = (account.qualified for account in case.accounts)
    return next((key for key in keys if key in case.rules.links), None)


def _overruled(case: _Case, link: str | None, target: str) -> str:
    if link is None or case.rules.links[link] == target:
        return ""
    return f'; it overrules the confirmed link of {link} to "{case.rules.links[link]}"'


def _prefix(case: _Case) -> _Tried:
    if not case.rules.prefix:
        return _Tried("runtimePeerPrefix is empty")
    if not case.accounts:
        return _Tried("no runtime id to put runtimePeerPrefix in front of")
    detail = f'runtimePeerPrefix "{case.rules.prefix}" in front of {case.subject}'
    name = prefixed_name(case.rules.prefix, case.accounts[0], case.rules.bare_team)
    return _Tried(detail, "runtimePeerPrefix", _generated(name, case))


def _raw(case: _Case) -> _Tried:
    if not case.accounts:
        return _Tried("no runtime id")
    named = _generated(generated_name(case.accounts[0], case.rules.bare_team), case)
    return _Tried(f"no rule names {case.subject}", "runtime id", named)


def _peer_name(case: _Case) -> _Tried:
    name = case.rules.peer_name
    if case.sender.kind is not SenderKind.OPERATOR:
        return _Tried("peerName stands only for a channel without users")
    if not name:
        return _Tried("peerName is empty")
    return _Tried(f'the channel has no users: peerName "{name}"', "peerName", _set(name, case))


#: after these only the conversation is left
_LADDER: tuple[tuple[Rung, Callable[[_Case], _Tried]], ...] = (
    (Rung.UNATTRIBUTED, _nobody),
    (Rung.PIN, _pin),
    (Rung.ALIAS, _alias),
    (Rung.PREFIX, _prefix),
    (Rung.RAW, _raw),
    (Rung.PEER_NAME, _peer_name),
)


# --- names -------------------------------------------------------------------------------------


def _set(name: str, case: _Case) -> _Named:
    """Name by configuration. A legal name is meant as written, whoever holds it already."""
    if naming.is_legal(name):
        return _Named(name, case.owner(name) or name)
    return _generated(name, case)


def _generated(name: str, case: _Case) -> _Named:
    return _Named(naming.assign(name, case.owner), name)


def _after_conversation(head: str, case: _Case) -> _Named:
    names = naming.hashed(f"{head}-{case.platform}", case.conversation)
    return _Named(naming.pick(names, case.conversation, case.owner), case.conversation)


def _apart_from_agent(named: _Named, case: _Case) -> _Named:
    """Give a user another name than the agent's, which no user's words may be written to."""
    agent = next(naming.candidates(case.rules.ai_peer))
    if named.peer != agent:
        return named
    names = naming.hashed(agent, case.subject)
    return _Named(naming.pick(names, case.subject, case.owner), case.subject)
