"""Who speaks: an id means nothing without its team, and the app knows itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from adapters.slack.parse import parse
from adapters.slack.people import Profile, View
from gateway.model.events import EventKind, SenderKind
from gateway.policy.admission import AccessRules, Grant, Reason, admit
from gateway.policy.runtime_id import runtime_ids
from tests.unit.slack.samples import ME, VIEW, message, only, payload

OPEN = AccessRules(
    admins=frozenset(),
    allow={},
    roles={},
    places={"slack": frozenset({"C1"})},
    open_places={"slack": frozenset({"C1"})},
    allow_all={"slack": True},
    pairing=False,
    bots="all",
)


@pytest.mark.parametrize(
    ("fields", "scope"),
    [
        ({"team": "T1"}, "T1"),
        ({"team": "T2"}, "T2"),
        ({"team": "T1", "user_team": "T2", "source_team": "T3"}, "T2"),
        ({"team": "T1", "source_team": "T3"}, "T3"),
        ({"team": None}, "T1"),
    ],
)
def test_the_team_is_the_speakers_own(fields: dict[str, Any], scope: str) -> None:
    """H-09."""
    assert only(parse(payload(message(**fields)), VIEW)).sender.scope == scope


@pytest.mark.parametrize("user", ["U0MIRA0001", "W0GRID0001"])
def test_no_rule_looks_at_the_first_letter(user: str) -> None:
    """H-09."""
    sender = only(parse(payload(message(user=user)), VIEW)).sender
    assert (sender.kind, sender.id) == (SenderKind.PERSON, user)


def test_members_of_an_organisation_are_known_in_all_its_teams() -> None:
    grid = View(replace(ME, enterprise="E1"))
    forms = set()
    for team in ("T1", "T2"):
        sender = only(parse(payload(message(user="W1", team=team)), grid)).sender
        forms.add(runtime_ids(sender, ME_PLATFORM)[1].platform_forms[-1])
    assert forms == {"slack:E1:W1"}
    named = message(user="W1", team="T1", user_team="E1", source_team="E1")
    assert only(parse(payload(named), grid)).sender.scope == "T1"  # as by a command or a button
    guest = payload(message(user="W1", team="T9"), is_ext_shared_channel=True)
    assert only(parse(guest, grid)).sender.alternatives == ()


ME_PLATFORM = only(parse(payload(message()), VIEW)).platform


@pytest.mark.parametrize(
    "fields",
    [
        {"user": "U0BOT"},
        {"user": "U0BOT", "bot_id": "B0BOT"},
        {"user": None, "bot_id": "B0BOT", "subtype": "bot_message"},
    ],
)
def test_the_app_is_itself_to_whatever_decides(fields: dict[str, Any]) -> None:
    """H-43: self always, by id, even where bots are welcome."""
    event = only(parse(payload(message("<@U0BOT> hi", channel="C1", **fields)), VIEW))
    assert admit(event, OPEN, Grant()).reason is Reason.SELF


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"bot_id": "B9"}, SenderKind.BOT),
        ({"subtype": "bot_message", "user": None, "username": "x"}, SenderKind.BOT),
        ({"user": "USLACKBOT"}, SenderKind.SERVICE),
        ({"user": None}, SenderKind.UNKNOWN),
        ({}, SenderKind.PERSON),
    ],
)
def test_kinds_of_senders(fields: dict[str, Any], kind: SenderKind) -> None:
    assert only(parse(payload(message(**fields)), VIEW)).sender.kind is kind


def test_a_name_is_shown_and_means_nothing() -> None:
    """H-10."""
    known = View(ME, profiles={"U1": Profile("Mira", "ru-RU")})
    named = only(parse(payload(message("hi <@U1>")), known))
    renamed = only(parse(payload(message(user_profile={"display_name": "Other"})), known))
    assert (named.sender.name, named.sender.language, named.text) == ("Mira", "ru-RU", "hi @Mira")
    assert renamed.sender.name == "Other"
    assert (named.sender.id, named.sender.scope) == (renamed.sender.id, renamed.sender.scope)


@pytest.mark.parametrize(
    ("edited", "before", "after", "kind"),
    [
        (True, "a", "b", EventKind.EDIT),
        (True, None, "b", EventKind.EDIT),
        (True, "a", "a", EventKind.SERVICE),
        (False, "a", "b", EventKind.SERVICE),
    ],
)
def test_only_changed_words_are_an_edit(
    edited: bool, before: str | None, after: str, kind: EventKind
) -> None:
    """H-18."""
    inner = message(after) | (
        {"edited": {"user": "U1", "ts": "1795982009.000100"}} if edited else {}
    )
    event = {
        **{"type": "message", "subtype": "message_changed", "channel": "C1"},
        "ts": "1795982009.000200",
        "message": inner,
        "previous_message": None if before is None else message(before),
    }
    found = only(parse(payload(event), VIEW))
    assert (found.kind, found.message) == (kind, "1795982000.000100")


@pytest.mark.parametrize("subtype", ["message_replied", None])
def test_a_notice_of_a_reply_does_not_stand_for_the_reply(subtype: str | None) -> None:
    """H-16: Slack gives it the reply's own ts, and may leave its subtype out."""
    reply = message("in thread", channel="C1", thread_ts="1795981000.000100")
    inner = message("root", ts="1795981000.000100", reply_count=1)
    notice = {"type": "message", "channel": "C1", "ts": reply["ts"], "message": inner}
    notice |= {"subtype": subtype} if subtype else {}
    told, said = (only(parse(payload(event), VIEW)) for event in (notice, reply))
    assert (told.kind, said.kind) == (EventKind.SERVICE, EventKind.MESSAGE)
    assert told.dedupe_key != said.dedupe_key


def test_what_happens_in_no_conversation_is_no_event() -> None:
    for event in ({"type": "team_join", "user": {"id": "U1"}}, {"type": "tokens_revoked"}):
        assert parse(payload(event), VIEW) is None
