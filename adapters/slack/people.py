"""Who speaks and where: accounts, teams, conversations and threads of Slack's events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adapters.slack.manifest import SERVICE_ACCOUNTS
from gateway.model.events import Place, PlaceKind, Sender, SenderKind
from gateway.model.ids import PlaceId, ScopeId, ThreadId, UserId

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.slack.fields import Fields
    from gateway.model.ids import AccountId


@dataclass(frozen=True, slots=True)
class Me:
    """The app in one team, as Slack knows it."""

    account: AccountId
    team: ScopeId
    user: UserId
    #: the app's ``B…`` id, "" when Slack named none
    bot: str = ""
    #: the organisation that the team belongs to
    enterprise: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a person's profile says: for display, never identity."""

    name: str = ""
    language: str | None = None


@dataclass(frozen=True, slots=True)
class View:
    """How events are read: as whom, with which profiles known, answering in threads or not."""

    me: Me
    threads: bool = True
    profiles: Mapping[str, Profile] = field(default_factory=dict)

    def name_of(self, user: str) -> str:
        """Return a person's name, or the id where none is known."""
        profile = self.profiles.get(user)
        return user if profile is None or not profile.name else profile.name


def read_place(channel: str, thread: str, ts: str, *, threads: bool) -> Place:
    """Return where something was said.

    Only direct messages can be told by every event alike (their ids begin with D); a group of
    people and a channel count as the same kind of place. With ``threads`` a message in the
    channel itself belongs to the thread that its answer will open.
    """
    direct = channel.startswith("D")
    if not thread and threads and not direct:
        thread = ts
    return Place(
        PlaceKind.DIRECT if direct else PlaceKind.CHANNEL,
        PlaceId(channel),
        ThreadId(thread) if thread else None,
    )


def read_sender(message: Fields, payload: Fields, view: View) -> Sender:
    """Return who spoke; nobody is guessed where Slack names no account.

    The app itself is a bot with the account's own id: whatever decides about senders knows it
    by that.
    """
    me, user, bot = view.me, message.text("user"), message.text("bot_id")
    if user == me.user or (bot and bot == me.bot):
        return Sender(SenderKind.BOT, UserId(me.account), me.team)
    scope = _team(message, payload, me)
    if bot or message.text("subtype") == "bot_message":
        return _bot(message, user, bot, scope)
    if not user:
        return Sender(SenderKind.UNKNOWN)
    if user in SERVICE_ACCOUNTS:
        return Sender(SenderKind.SERVICE, UserId(user), scope)
    profile = view.profiles.get(user, Profile())
    return Sender(
        SenderKind.PERSON,
        UserId(user),
        scope,
        alternatives=_in_organisation(user, scope, payload, me),
        name=_own_name(message) or profile.name,
        language=profile.language,
    )


def _bot(message: Fields, user: str, bot: str, scope: ScopeId) -> Sender:
    profile = message.child("bot_profile")
    name = message.name("username") or ("" if profile is None else profile.name("name"))
    ids = [UserId(each) for each in (user, bot) if each]
    if not ids:
        return Sender(SenderKind.BOT, name=name)
    return Sender(SenderKind.BOT, ids[0], scope, alternatives=tuple(ids[1:]), name=name)


def _team(message: Fields, payload: Fields, me: Me) -> ScopeId:
    """Return the team that the speaker belongs to: in a shared channel not always ours.

    Where Slack names our own organisation instead, that is no team: a person would be another
    one by each way of speaking.
    """
    for holder, key in (
        (message, "user_team"),
        (message, "source_team"),
        (message, "team"),
        (payload, "team_id"),
    ):
        found = holder.text(key)
        if found and found != me.enterprise:
            return ScopeId(found)
    return me.team


def _in_organisation(user: str, scope: ScopeId, payload: Fields, me: Me) -> tuple[UserId, ...]:
    """Return ``E…:W…``, by which an organisation's member is the same in all of its teams.

    A guest from elsewhere in a shared channel is none of its members.
    """
    shared = payload.values.get("is_ext_shared_channel") is True
    if not me.enterprise or (shared and scope != me.team):
        return ()
    return (UserId(f"{me.enterprise}:{user}"),)


def _own_name(message: Fields) -> str:
    """Return the name that Slack sends along for people of other teams."""
    profile = message.child("user_profile")
    if profile is None:
        return ""
    return profile.name("display_name") or profile.name("real_name")
