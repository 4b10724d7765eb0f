"""Conversation keys, names of memory sessions, and when a conversation starts a new one."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Literal

from gateway.model.events import InboundEvent, PlaceKind
from gateway.model.ids import (
    AccountId,
    ConversationKey,
    PlaceId,
    PlatformName,
    SessionId,
    ThreadId,
)
from gateway.policy import naming, parts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePath
    from zoneinfo import ZoneInfo

    from gateway.model.events import Sender

Sharing = Literal["per-user", "shared"]
SessionStrategy = Literal["per-directory", "per-repo", "per-session", "global"]
ResetMode = Literal["none", "idle", "daily", "both"]

_FIELDS = 7
_HASH = 24


@dataclass(frozen=True, slots=True)
class KeyParts:
    """What a conversation key says."""

    profile: str
    platform: PlatformName
    account: AccountId
    kind: PlaceKind
    place: PlaceId
    thread: ThreadId | None = None
    #: ``team/user`` or ``user``; "" for a sender that cannot be read; None: shared
    participant: str | None = None


def build_key(key_parts: KeyParts) -> ConversationKey:
    """Return the key, as ``sessions list`` prints it: ``default:telegram:111:direct:700100200``.

    Different parts give different keys; parts at the end that are None are left out.
    """
    fields: list[str | None] = [
        key_parts.profile,
        key_parts.platform,
        key_parts.account,
        key_parts.kind.value,
        key_parts.place,
        key_parts.thread,
        key_parts.participant,
    ]
    while fields[-1] is None:
        fields.pop()
    return ConversationKey(parts.join(fields, ":"))


def parse_key(key: ConversationKey) -> KeyParts:
    """Undo ``build_key``. Raises ``ValueError`` when ``key`` was not made by it."""
    found = parts.split(key, ":")
    found += [None] * (_FIELDS - len(found))
    match found:
        case [str(profile), str(platform), str(account), str(kind), str(place), thread, who]:
            return KeyParts(
                profile,
                PlatformName(platform),
                AccountId(account),
                PlaceKind(kind),
                PlaceId(place),
                None if thread is None else ThreadId(thread),
                who,
            )
    raise ValueError("not a conversation key")


def conversation_key(
    event: InboundEvent, *, profile: str, group_sessions: Sharing, thread_sessions: Sharing
) -> ConversationKey:
    """Return the key of the conversation that ``event`` belongs to.

    A direct message goes by chat and topic; in a group or channel the participant counts unless
    the sessions there are shared.
    """
    place = event.place
    in_thread = place.thread is not None or place.parent is not None
    sharing = thread_sessions if in_thread else group_sessions
    alone = place.kind is not PlaceKind.DIRECT and sharing == "per-user"
    return build_key(
        KeyParts(
            profile,
            event.platform,
            event.account,
            place.kind,
            place.id,
            place.thread,
            _participant(event.sender) if alone else None,
        )
    )


def _participant(sender: Sender) -> str:
    scope = () if sender.scope is None else (sender.scope,)
    return parts.join((*scope, sender.id or ""), "/")


def moved(key: ConversationKey, place: PlaceId) -> ConversationKey:
    """Return the key of the same conversation after its group got a new id."""
    return build_key(replace(parse_key(key), place=place))


def session_original(
    key: ConversationKey, *, workspace: str, ordinal: int, title: str = ""
) -> SessionId:
    """Return the name under which the ``ordinal``-th memory session of ``key`` is opened.

    The readable head is the title, else the place; workspace, key and ordinal are told apart by
    96 bits of hash, so the name needs no look-up. Store it: a later title changes it.
    """
    where = parse_key(key)
    head = title or "-".join(
        filter(None, (where.platform, where.kind.value, where.place, where.thread))
    )
    tail = naming.digest(parts.join((workspace, key, str(ordinal)), "|"))[:_HASH]
    return SessionId(f"{naming.clean(head)[: naming.LIMIT - 1 - _HASH]}-{tail}")


@dataclass(frozen=True, slots=True)
class ConsoleNaming:
    """All that may name a session outside a platform."""

    #: ``sessions`` of honcho.json: path to name
    manual: Mapping[str, str]
    title: str
    strategy: SessionStrategy
    cwd: PurePath
    git_root: PurePath | None
    #: a new id, for ``per-session``
    fresh: str
    workspace: str
    peer: str
    peer_prefix: bool


def console_session(inputs: ConsoleNaming) -> SessionId:
    """Return the session's name: manual map, title, strategy, else the workspace's name.

    ``peer_prefix`` puts the peer in front of all but a name from the manual map, which is
    meant as written. Two folders of one name share a session; map one of them by hand to tell
    them apart.
    """
    name = inputs.manual.get(str(inputs.cwd))
    if not name:
        name = inputs.title or _by_strategy(inputs) or inputs.workspace
        if inputs.peer_prefix and inputs.peer:
            name = f"{inputs.peer}-{name}"
    return SessionId(next(naming.candidates(name)))


def _by_strategy(inputs: ConsoleNaming) -> str:
    match inputs.strategy:
        case "per-session":
            return inputs.fresh
        case "per-repo":
            return (inputs.git_root or inputs.cwd).name
        case "per-directory":
            return inputs.cwd.name
        case "global":
            return inputs.workspace


# --- reset --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResetRule:
    """``conversations.reset`` in the configured zone."""

    mode: ResetMode
    idle_minutes: int
    #: 0 to 23, local time in ``zone``
    at_hour: int
    zone: ZoneInfo


def reset_due(
    rule: ResetRule, *, last_activity: datetime, now: datetime
) -> Literal["idle", "daily"] | None:
    """Return why a new memory session is due before a message of ``now``, or None.

    Both moments are aware. A clock that was set back resets nothing.
    """
    now, last_activity = now.astimezone(UTC), last_activity.astimezone(UTC)
    silence = (now - last_activity).total_seconds()
    if rule.mode in ("idle", "both") and silence >= rule.idle_minutes * 60:
        return "idle"
    if rule.mode in ("daily", "both") and last_activity < _last_boundary(rule, now):
        return "daily"
    return None


def _last_boundary(rule: ResetRule, now: datetime) -> datetime:
    today = now.astimezone(rule.zone).date()
    boundaries = (_boundary(rule, today - timedelta(days=back)) for back in itertools.count())
    return next(boundary for boundary in boundaries if boundary <= now)


def _boundary(rule: ResetRule, day: date) -> datetime:
    """Return the one moment of ``day``'s reset in UTC.

    Of an hour that a night in autumn repeats, the first counts; an hour that a night in spring
    skips comes as long after midnight as if it had not been skipped.
    """
    return datetime.combine(day, time(rule.at_hour), rule.zone).astimezone(UTC)
