"""Asking whom an account stands for, without a turn and without changing anything."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gateway.model.events import (
    EventKind,
    InboundEvent,
    Place,
    PlaceKind,
    Sender,
    SenderKind,
)
from gateway.model.ids import AccountId, MessageId, PlaceId, ScopeId, UserId
from gateway.pipeline import explain
from gateway.pipeline.addresses import account_of
from gateway.pipeline.explain import Background, describe, told_background
from gateway.pipeline.linked import rules_with_link
from gateway.policy.identity import resolve
from gateway.policy.session import conversation_key
from gateway.store import facts, names, readonly
from gateway.store.facts import BARE_TEAM

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gateway.model.ids import PlatformName
    from gateway.pipeline.rules import Rules
    from gateway.policy.identity import Identity, IdentityRules
    from gateway.ports import Manifest
    from gateway.settings.nodes import Source
    from gateway.store.engine import Connection


@dataclass(frozen=True, slots=True)
class Question:
    """An account, in a group where ``place`` is given, else in its direct message."""

    manifest: Manifest
    #: ``id``, or ``team:id`` where a platform's ids belong to teams
    account: str
    place: str | None = None
    #: the bot that the account writes to
    bot: AccountId | None = None

    def event(self) -> InboundEvent:
        """Return a message as the account would write it."""
        kind = PlaceKind.DIRECT if self.place is None else PlaceKind.GROUP
        return InboundEvent(
            kind=EventKind.MESSAGE,
            platform=self.manifest.name,
            account=self.bot or AccountId(""),
            place=Place(kind, PlaceId(self.place or self.account)),
            message=MessageId("0"),
            sender=self._sender(),
            sent_at=datetime.now(UTC),
        )

    def _sender(self) -> Sender:
        if not self.manifest.capabilities.has_users:
            return Sender(SenderKind.OPERATOR)
        scope, _, user = self.account.rpartition(":")
        service = user in self.manifest.service_accounts
        kind = SenderKind.SERVICE if service else SenderKind.PERSON
        return Sender(kind, UserId(user), ScopeId(scope) if scope else None)


def in_home_team(question: Question, rules: Rules, database: Path) -> Question:
    """Return the question about an id of Slack, where no team was named, in the first team.

    An id without a team is nobody's: asked as it stands, it would get a name that no turn gets.
    """
    if question.manifest.name != "slack" or ":" in question.account:
        return question
    team = None
    if database.exists():
        with readonly.look(database) as conn:
            team = facts.get(conn, BARE_TEAM)
    team = rules.identity.bare_team or team
    return question if team is None else replace(question, account=f"{team}:{question.account}")


def ask(question: Question, rules: Rules, database: Path, *, stand_in: str) -> Identity:
    """Resolve as the next turn would; names that are taken are looked up where a store exists."""
    if not database.exists():
        return _resolve(question, rules, None, stand_in=stand_in)
    with readonly.look(database) as conn:
        return _resolve(question, rules, conn, stand_in=stand_in)


def _resolve(
    question: Question, rules: Rules, conn: Connection | None, *, stand_in: str
) -> Identity:
    event = question.event()
    conversation = conversation_key(
        event,
        profile=rules.profile,
        group_sessions=rules.conversations.group_sessions,
        thread_sessions=rules.conversations.thread_sessions,
    )
    return resolve(
        event.sender,
        event.platform,
        conversation,
        _identity_rules(event, rules, conn, stand_in=stand_in),
        owner=(lambda _name: None) if conn is None else names.owner(conn, names.PEER),
    )


def _identity_rules(
    event: InboundEvent, rules: Rules, conn: Connection | None, *, stand_in: str
) -> IdentityRules:
    team = None if conn is None else facts.get(conn, BARE_TEAM)
    bare_team = None if team is None else ScopeId(team)

    def rules_of(platform: PlatformName) -> IdentityRules:
        return rules.identity_for(platform, bare_team=bare_team, stand_in=stand_in)

    if conn is None:
        return rules_of(event.platform)
    return rules_with_link(conn, account_of(event), rules_of)


def answer(identity: Identity, sources: Mapping[str, Source]) -> dict[str, Any]:
    """Return the identity for ``whois --json``, with the place of the entry that named it."""
    found = {**describe(identity), "recorded_in": None}
    for key, source in sources.items():
        if identity.source == f'userPeerAliases["{key}"]' and source.file is not None:
            found["recorded_in"] = f"{source.file}:{source.line}"
    return found


def background(question: Question, identity: Identity, database: Path) -> dict[str, Any]:
    """Return since when the account has been that, and which link or change made it so."""
    found = Background()
    if database.exists():
        with readonly.look(database) as conn:
            found = explain.background(conn, account_of(question.event()), identity)
    return told_background(found)
