"""Who may speak to the agent: one decision in front of every kind of event, deny by default."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from gateway.model.events import EventKind, PlaceKind, SenderKind
from gateway.policy.runtime_id import runtime_ids

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.model.events import InboundEvent
    from gateway.policy.runtime_id import RuntimeId

Bots = Literal["ignore", "mentions", "all"]

_NONE: frozenset[str] = frozenset()


class Verdict(StrEnum):
    """What to do with an event."""

    ADMIT = "admit"
    #: keep its dedupe key, place, time and reason, and nothing else
    REFUSE = "refuse"
    #: a stranger's direct message: refuse, and offer a pairing code
    PAIR = "pair"


class Reason(StrEnum):
    """Why."""

    OPERATOR = "operator"
    ADMIN = "admin"
    ALLOWED = "allowed"
    PAIRED = "paired"
    ROLE = "role"
    ALLOW_ALL = "allow_all"
    OPEN_PLACE = "open_place"
    #: the event concerns a served place, whoever caused it
    SERVED_PLACE = "served_place"

    SELF = "self"
    BOT = "bot"
    WEBHOOK = "webhook"
    SERVICE_SENDER = "service_sender"
    #: a join, a pin, a reaction: nothing that is spoken
    SERVICE_EVENT = "service_event"
    UNKNOWN_SENDER = "unknown_sender"
    PLACE = "place"
    STRANGER = "stranger"


@dataclass(frozen=True, slots=True)
class AccessRules:
    """The ``access`` section. Ids are exact text; a missing platform serves nobody."""

    #: ``telegram:700100200``, ``slack:T0…:U0…``; ``slack:U0…`` is that id in every team
    admins: frozenset[str]
    #: any of ``RuntimeId.forms``, by platform
    allow: Mapping[str, frozenset[str]]
    roles: Mapping[str, frozenset[str]]
    places: Mapping[str, frozenset[str]]
    #: of ``places``, those where every member may talk
    open_places: Mapping[str, frozenset[str]]
    allow_all: Mapping[str, bool]
    pairing: bool
    bots: Bots
    #: a link of two accounts waits for an admin's yes
    link_approval: bool = False


@dataclass(frozen=True, slots=True)
class Grant:
    """What the store knows of the sender's account."""

    paired: bool = False
    admin: bool = False


@dataclass(frozen=True, slots=True)
class Admission:
    """The decision. ``admin`` is a property of the account and only true when admitted."""

    verdict: Verdict
    reason: Reason
    admin: bool = False


def admit(
    event: InboundEvent,
    rules: AccessRules,
    grant: Grant,
    *,
    place_ids: frozenset[str] = _NONE,
) -> Admission:
    """Decide about an event of any kind.

    ``place_ids``: further ids of its place (before a group moved), so that an entry for an old
    id keeps working. A sender that cannot be read may talk only in an open place, where being
    there is enough; a webhook or a platform's own account never.
    """
    if event.sender.kind is SenderKind.OPERATOR:
        return Admission(Verdict.ADMIT, Reason.OPERATOR, admin=True)
    places = place_ids | _place_ids(event)
    served = not places.isdisjoint(rules.places.get(event.platform, _NONE))
    if _concerns_place(event):
        return _served(served)
    refusal = _sender_refusal(event, rules)
    if refusal is None and event.place.kind is not PlaceKind.DIRECT and not served:
        refusal = Reason.PLACE
    if refusal is not None:
        return Admission(Verdict.REFUSE, refusal)
    everybody = served and not places.isdisjoint(rules.open_places.get(event.platform, _NONE))
    return _by_account(event, rules, grant, everybody=everybody)


def _place_ids(event: InboundEvent) -> frozenset[str]:
    ids = (event.place.id, event.place.parent, event.moved_to)
    return frozenset(filter(None, ids))


def _concerns_place(event: InboundEvent) -> bool:
    """A group that moved or threw the bot out: no person's doing, and nothing is answered."""
    group = event.place.kind is not PlaceKind.DIRECT
    return group and event.kind in (EventKind.MOVED, EventKind.UNREACHABLE)


def _served(served: bool) -> Admission:
    if served:
        return Admission(Verdict.ADMIT, Reason.SERVED_PLACE)
    return Admission(Verdict.REFUSE, Reason.PLACE)


def _sender_refusal(event: InboundEvent, rules: AccessRules) -> Reason | None:
    if event.kind is EventKind.SERVICE:
        return Reason.SERVICE_EVENT
    sender = event.sender
    own: str = event.account
    if own in (sender.id, *sender.alternatives):
        return Reason.SELF
    match sender.kind:
        case SenderKind.WEBHOOK:
            return Reason.WEBHOOK
        case SenderKind.SERVICE:
            return Reason.SERVICE_SENDER
        case SenderKind.BOT if not _bot_may_speak(event, rules.bots):
            return Reason.BOT
    return None


def _bot_may_speak(event: InboundEvent, bots: Bots) -> bool:
    if bots == "mentions":
        return event.mentions_bot or (event.reply is not None and event.reply.to_bot)
    return bots == "all"


def _by_account(
    event: InboundEvent, rules: AccessRules, grant: Grant, *, everybody: bool
) -> Admission:
    accounts = runtime_ids(event.sender, event.platform)
    if not accounts or event.sender.kind is SenderKind.UNKNOWN:
        if everybody:
            return Admission(Verdict.ADMIT, Reason.OPEN_PLACE)
        return Admission(Verdict.REFUSE, Reason.UNKNOWN_SENDER)
    person = event.sender.kind is SenderKind.PERSON
    listed = any(form in rules.admins for each in accounts for form in each.platform_forms)
    if person and (grant.admin or listed):
        return Admission(Verdict.ADMIT, Reason.ADMIN, admin=True)
    reason = _standing(event, accounts, rules, paired=grant.paired, everybody=everybody)
    if reason is not None:
        return Admission(Verdict.ADMIT, reason)
    direct = event.place.kind is PlaceKind.DIRECT and event.kind is EventKind.MESSAGE
    pair = person and direct and rules.pairing
    return Admission(Verdict.PAIR if pair else Verdict.REFUSE, Reason.STRANGER)


def _standing(
    event: InboundEvent,
    accounts: tuple[RuntimeId, ...],
    rules: AccessRules,
    *,
    paired: bool,
    everybody: bool,
) -> Reason | None:
    platform, roles = event.platform, event.sender.roles
    forms = frozenset(form for each in accounts for form in each.forms)
    standings = {
        Reason.ALLOWED: not forms.isdisjoint(rules.allow.get(platform, _NONE)),
        Reason.PAIRED: paired,
        Reason.ROLE: not rules.roles.get(platform, _NONE).isdisjoint(roles),
        Reason.ALLOW_ALL: rules.allow_all.get(platform, False),
        Reason.OPEN_PLACE: everybody,
    }
    return next((reason for reason, holds in standings.items() if holds), None)
