"""One decision in front of every kind of event (H-01, H-03, H-11, H-26, H-28, H-40, H-43)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.model.events import Command, EventKind, Place, PlaceKind, Sender, SenderKind
from gateway.model.ids import PlaceId
from gateway.policy.admission import (
    AccessRules,
    Admission,
    Grant,
    Reason,
    Verdict,
    admit,
)
from tests.unit.policy.samples import (
    ALPHA,
    BETA,
    CONSOLE,
    DISCORD,
    GROUP,
    MIRA,
    MIRA_SLACK,
    OPERATOR,
    REPLY_TO_BOT,
    REPLY_TO_OTHER,
    SLACK,
    STRANGER,
    TELEGRAM,
    TOBIAS,
    UNREADABLE,
    direct,
    event,
    group,
    sender,
    slack_user,
)

NOBODY = Grant()


def access(**changes: Any) -> AccessRules:
    defaults: dict[str, Any] = {
        "admins": frozenset(),
        "allow": {TELEGRAM: frozenset({MIRA})},
        "roles": {},
        "places": {TELEGRAM: frozenset({GROUP})},
        "open_places": {},
        "allow_all": {},
        "pairing": True,
        "bots": "ignore",
    }
    return AccessRules(**{**defaults, **changes})


OPEN = access(open_places={TELEGRAM: frozenset({GROUP})})
EMPTY = access(allow={}, places={})


def refused(reason: Reason) -> Admission:
    return Admission(Verdict.REFUSE, reason)


def admitted(reason: Reason, *, admin: bool = False) -> Admission:
    return Admission(Verdict.ADMIT, reason, admin)


# --- people ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("who", "changes", "grant", "found"),
    [
        (sender(), {}, NOBODY, admitted(Reason.ALLOWED)),
        (sender(TOBIAS), {}, Grant(paired=True), admitted(Reason.PAIRED)),
        (sender(TOBIAS), {}, Grant(paired=True, admin=True), admitted(Reason.ADMIN, admin=True)),
        (
            sender(TOBIAS),
            {"admins": frozenset({f"telegram:{TOBIAS}"})},
            NOBODY,
            admitted(Reason.ADMIN, admin=True),
        ),
        (sender(TOBIAS), {"admins": frozenset({f"discord:{TOBIAS}"})}, NOBODY, None),
        (sender(STRANGER), {"allow_all": {TELEGRAM: True}}, NOBODY, admitted(Reason.ALLOW_ALL)),
        (sender(STRANGER), {"allow_all": {DISCORD: True}}, NOBODY, None),
        (sender(STRANGER), {"allow": {DISCORD: frozenset({STRANGER})}}, NOBODY, None),
        (sender(STRANGER, alternatives=(MIRA,)), {}, NOBODY, admitted(Reason.ALLOWED)),
        (sender(STRANGER, name=MIRA), {}, NOBODY, None),
        (sender(STRANGER), {}, NOBODY, None),
    ],
)
def test_a_direct_message(
    who: Sender, changes: dict[str, Any], grant: Grant, found: Admission | None
) -> None:
    stranger = Admission(Verdict.PAIR, Reason.STRANGER)
    assert admit(event(who=who), access(**changes), grant) == (found or stranger)


@pytest.mark.parametrize("admin", ["telegram:700100200", "700100200"])
def test_an_admin_is_written_with_the_platform(admin: str) -> None:
    found = admit(event(), access(admins=frozenset({admin})), NOBODY)
    assert found.admin is (admin == "telegram:700100200")


@pytest.mark.parametrize(
    ("entry", "team", "allowed"),
    [
        (f"{ALPHA}:{MIRA_SLACK}", ALPHA, True),
        (f"slack:{ALPHA}:{MIRA_SLACK}", ALPHA, True),
        (MIRA_SLACK, ALPHA, True),
        (MIRA_SLACK, BETA, True),
        (f"{ALPHA}:{MIRA_SLACK}", BETA, False),
    ],
)
def test_slack_entries_with_and_without_team(entry: str, team: str, allowed: bool) -> None:
    rules = access(allow={SLACK: frozenset({entry})})
    found = admit(event(who=slack_user(team=team), platform=SLACK), rules, NOBODY)
    assert (found.verdict is Verdict.ADMIT) is allowed


@pytest.mark.parametrize(("team", "admin"), [(ALPHA, True), (BETA, False)])
def test_a_slack_admin_of_one_team(team: str, admin: bool) -> None:
    rules = access(admins=frozenset({f"slack:{ALPHA}:{MIRA_SLACK}"}))
    found = admit(event(who=slack_user(team=team), platform=SLACK), rules, NOBODY)
    assert found.admin is admin


def test_a_role_admits() -> None:
    rules = access(roles={DISCORD: frozenset({"55"})}, places={DISCORD: frozenset({GROUP})})
    found = [
        admit(event(group(), sender(STRANGER, roles=roles), platform=DISCORD), rules, NOBODY)
        for roles in (("54", "55"), ("54",), ())
    ]
    assert found == [admitted(Reason.ROLE), *[refused(Reason.STRANGER)] * 2]


def test_the_console_is_admin() -> None:
    assert admit(event(who=OPERATOR, platform=CONSOLE), EMPTY, NOBODY) == (
        admitted(Reason.OPERATOR, admin=True)
    )


# --- strangers ---------------------------------------------------------------------------------

STRANGE_EVENTS: list[dict[str, Any]] = [
    {},
    {"command": Command("new")},
    {"reply": REPLY_TO_BOT},
    {"mentions_bot": True},
    {"kind": EventKind.EDIT, "revision": "2"},
    {"kind": EventKind.UNREACHABLE},
    {"kind": EventKind.SERVICE},
]


@pytest.mark.parametrize("more", STRANGE_EVENTS)
@pytest.mark.parametrize("place", [direct(STRANGER), group(), group(thread="55"), group("-9")])
@pytest.mark.parametrize("rules", [access(), EMPTY, access(allow={TELEGRAM: frozenset()})])
def test_no_event_of_a_stranger_is_admitted(  # H-40
    more: dict[str, Any], place: Place, rules: AccessRules
) -> None:
    found = admit(event(place, sender(STRANGER), **more), rules, NOBODY)
    # the bot's removal from a served group is the group's event, not the stranger's
    group_event = more.get("kind") is EventKind.UNREACHABLE and place.id == GROUP
    if not (group_event and rules is not EMPTY):
        assert found.verdict is not Verdict.ADMIT
    assert not found.admin


@pytest.mark.parametrize("more", [{"kind": EventKind.EDIT}, {"kind": EventKind.UNREACHABLE}])
def test_only_a_message_is_offered_a_code(more: dict[str, Any]) -> None:
    found = admit(event(who=sender(STRANGER), **more), access(), NOBODY)
    assert found == refused(Reason.STRANGER)


def test_a_stranger_in_a_group_and_without_pairing_gets_silence() -> None:
    assert admit(event(group(), sender(STRANGER)), access(), NOBODY) == refused(Reason.STRANGER)
    found = admit(event(who=sender(STRANGER)), access(pairing=False), NOBODY)
    assert found == refused(Reason.STRANGER)


@pytest.mark.parametrize("user", ["", None])
def test_an_empty_id_never_matches(user: str | None) -> None:
    rules = access(allow={TELEGRAM: frozenset({""})}, admins=frozenset({"telegram:", ""}))
    assert admit(event(who=sender(user)), rules, Grant(paired=True)) == (
        refused(Reason.UNKNOWN_SENDER)
    )


@given(
    st.sampled_from(EventKind),
    st.sampled_from(SenderKind),
    st.sampled_from(PlaceKind),
    st.sampled_from(["ignore", "mentions", "all"]),
    st.booleans(),
)
def test_empty_rules_admit_the_console_only(
    kind: EventKind, speaker: SenderKind, place: PlaceKind, bots: str, mentioned: bool
) -> None:
    found = admit(
        event(Place(place, PlaceId("5")), sender("5", speaker), kind=kind, mentions_bot=mentioned),
        access(allow={}, places={}, bots=bots),
        NOBODY,
    )
    assert (found.verdict is Verdict.ADMIT) is (speaker is SenderKind.OPERATOR)


# --- places ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("places", "place", "reason"),
    [
        ({GROUP}, group(), None),
        ({GROUP}, group(thread="55"), None),
        ({"5550001112", "1005550001112"}, group(), Reason.PLACE),
        (set(), group(), Reason.PLACE),
        ({"810"}, group("811", parent="810"), None),
        ({"811"}, group("811", parent="810"), None),
        ({"820"}, group("811", parent="810"), Reason.PLACE),
        ({"810"}, group("811"), Reason.PLACE),
        ({"C1"}, Place(PlaceKind.CHANNEL, PlaceId("C1")), None),
        ({"C2"}, Place(PlaceKind.CHANNEL, PlaceId("C1")), Reason.PLACE),
    ],
)
def test_a_place_must_be_served_itself_or_by_its_parent(  # H-26
    places: set[str], place: Place, reason: Reason | None
) -> None:
    rules = access(places={TELEGRAM: frozenset(places)}, admins=frozenset({f"telegram:{MIRA}"}))
    expected = admitted(Reason.ADMIN, admin=True) if reason is None else refused(reason)
    assert admit(event(place), rules, NOBODY) == expected


def test_an_open_place_is_open_only_while_it_is_served() -> None:
    stranger = event(group(), sender(STRANGER))
    assert admit(stranger, OPEN, NOBODY) == admitted(Reason.OPEN_PLACE)
    closed = access(places={}, open_places={TELEGRAM: frozenset({GROUP})})
    assert admit(stranger, closed, NOBODY) == refused(Reason.PLACE)
    assert admit(event(who=sender(STRANGER)), OPEN, NOBODY).verdict is Verdict.PAIR


def test_an_open_place_is_no_way_to_a_direct_message() -> None:
    rules = access(
        places={TELEGRAM: frozenset({STRANGER})}, open_places={TELEGRAM: frozenset({STRANGER})}
    )
    found = admit(event(direct(GROUP), sender(STRANGER)), rules, NOBODY)
    assert found.verdict is Verdict.PAIR


def test_an_entry_for_the_old_id_of_a_group_keeps_working() -> None:  # H-28
    rules = access(places={TELEGRAM: frozenset({"-4455667"})})
    new = event(group("-1005550004444"))
    assert admit(new, rules, NOBODY) == refused(Reason.PLACE)
    assert admit(new, rules, NOBODY, place_ids=frozenset({"-4455667"})) == (
        admitted(Reason.ALLOWED)
    )


@pytest.mark.parametrize("who", [UNREADABLE, sender(STRANGER), sender("1", SenderKind.SERVICE)])
@pytest.mark.parametrize("kind", [EventKind.MOVED, EventKind.UNREACHABLE])
def test_what_happens_to_a_served_group_is_processed(who: Sender, kind: EventKind) -> None:
    moved = event(group(), who, kind=kind)
    assert admit(moved, access(), NOBODY) == admitted(Reason.SERVED_PLACE)
    assert admit(moved, EMPTY, NOBODY) == refused(Reason.PLACE)


def test_a_move_to_a_served_id_is_processed() -> None:
    rules = access(places={TELEGRAM: frozenset({"-100555"})})
    moved = event(group("-4455667"), kind=EventKind.MOVED, moved_to=PlaceId("-100555"))
    assert admit(moved, rules, NOBODY) == admitted(Reason.SERVED_PLACE)


# --- who is no person --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("who", "reason"),
    [
        (sender(MIRA, SenderKind.WEBHOOK), Reason.WEBHOOK),
        (sender(MIRA, SenderKind.SERVICE), Reason.SERVICE_SENDER),
        (sender("111", SenderKind.BOT), Reason.SELF),
        (sender("111"), Reason.SELF),
        (sender("222", alternatives=("111",)), Reason.SELF),
        (sender(MIRA, SenderKind.BOT), Reason.BOT),
    ],
)
@pytest.mark.parametrize("place", [direct(), group()])
def test_no_list_of_people_admits_them(who: Sender, reason: Reason, place: Place) -> None:
    assert admit(event(place, who), OPEN, Grant(paired=True, admin=True)) == refused(reason)


def test_an_unreadable_sender_may_talk_only_in_an_open_place() -> None:  # H-07
    assert admit(event(group(), UNREADABLE), OPEN, NOBODY) == admitted(Reason.OPEN_PLACE)
    everywhere = access(allow_all={TELEGRAM: True})
    for place in (direct(), group()):
        found = admit(event(place, UNREADABLE), everywhere, NOBODY)
        assert found == refused(Reason.UNKNOWN_SENDER)
    named = sender(MIRA, SenderKind.UNKNOWN)
    assert admit(event(who=named), access(), NOBODY) == refused(Reason.UNKNOWN_SENDER)


@pytest.mark.parametrize(
    ("bots", "more", "found"),
    [
        ("ignore", {"mentions_bot": True}, refused(Reason.BOT)),
        ("mentions", {}, refused(Reason.BOT)),
        ("mentions", {"reply": REPLY_TO_OTHER}, refused(Reason.BOT)),
        ("mentions", {"reply": REPLY_TO_BOT}, admitted(Reason.ALLOWED)),
        ("mentions", {"mentions_bot": True}, admitted(Reason.ALLOWED)),
        ("all", {}, admitted(Reason.ALLOWED)),
    ],
)
def test_bots(bots: str, more: dict[str, Any], found: Admission) -> None:
    bot = sender("222", SenderKind.BOT)
    rules = access(bots=bots, allow={TELEGRAM: frozenset({"222"})})
    assert admit(event(group(), bot, **more), rules, NOBODY) == found


def test_a_bot_is_never_admin_and_never_offered_a_code() -> None:
    bot = sender("222", SenderKind.BOT)
    rules = access(bots="all", admins=frozenset({"telegram:222"}))
    assert admit(event(who=bot), rules, NOBODY) == refused(Reason.STRANGER)
    assert admit(event(who=bot), rules, Grant(paired=True, admin=True)) == (
        admitted(Reason.PAIRED)
    )
