"""The ladder: who a message belongs to, and why (H-01..H-14, D3, I1-I4, I8, I9)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.model.events import PlaceKind, Sender, SenderKind
from gateway.model.ids import AccountId, ConversationKey, PlaceId, PlatformName, ScopeId
from gateway.policy import naming
from gateway.policy.identity import Rung, resolve
from gateway.policy.session import KeyParts, build_key
from tests.unit.policy.samples import (
    ALPHA,
    BETA,
    CONSOLE,
    DISCORD,
    GROUP,
    MIRA,
    MIRA_DISCORD,
    MIRA_SLACK,
    OPERATOR,
    SLACK,
    TELEGRAM,
    TOBIAS,
    UNREADABLE,
    rules,
    sender,
    slack_user,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.policy.identity import Identity, IdentityRules


def conversation(kind: PlaceKind = PlaceKind.DIRECT, place: str = MIRA) -> ConversationKey:
    return build_key(KeyParts("default", TELEGRAM, AccountId("111"), kind, PlaceId(place)))


IN_GROUP = conversation(PlaceKind.GROUP, GROUP)
IN_DIRECT = conversation()


def who(
    speaker: Sender,
    identity_rules: IdentityRules | None = None,
    *,
    platform: PlatformName = TELEGRAM,
    where: ConversationKey = IN_DIRECT,
    owner: Callable[[str], str | None] = lambda _: None,
) -> Identity:
    return resolve(speaker, platform, where, identity_rules or rules(), owner=owner)


def trail(identity: Identity) -> list[tuple[Rung, bool]]:
    return [(step.rung, step.matched) for step in identity.steps]


H05: list[tuple[dict[str, Any], list[str]]] = [
    ({"pin": True}, ["mira", "mira", "mira"]),
    ({"pin": False}, ["work-mira", f"tg_{MIRA_DISCORD}", "mira"]),
]


@pytest.mark.parametrize(("changes", "peers"), H05)
def test_the_pin_beats_all_and_without_it_each_goes_by_its_rung(
    changes: dict[str, Any], peers: list[str]
) -> None:
    chosen = rules(aliases={MIRA: "work-mira"}, prefix="tg_", **changes)
    found = [
        who(sender(), chosen),
        who(sender(MIRA_DISCORD), chosen, platform=DISCORD),
        who(OPERATOR, chosen, platform=CONSOLE),
    ]
    assert [identity.peer for identity in found] == peers


EVERY_RUNG: list[tuple[Sender, dict[str, Any], Rung, str]] = [
    (sender(), {"pin": True, "aliases": {MIRA: "x"}}, Rung.PIN, "mira"),
    (sender(), {"aliases": {MIRA: "x"}, "prefix": "tg_"}, Rung.ALIAS, "x"),
    (sender(), {"prefix": "tg_"}, Rung.PREFIX, f"tg_{MIRA}"),
    (sender(), {"prefix": "{platform}_"}, Rung.PREFIX, f"telegram_{MIRA}"),
    (sender(), {}, Rung.RAW, MIRA),
    (OPERATOR, {"prefix": "tg_"}, Rung.PEER_NAME, "mira"),
]


@pytest.mark.parametrize(("speaker", "changes", "rung", "peer"), EVERY_RUNG)
def test_every_rung_wins_over_the_ones_below(
    speaker: Sender, changes: dict[str, Any], rung: Rung, peer: str
) -> None:
    found = who(speaker, rules(**changes))
    assert (found.rung, found.peer) == (rung, peer)
    assert found.personal


LADDER = [
    Rung.UNATTRIBUTED,
    Rung.PIN,
    Rung.ALIAS,
    Rung.PREFIX,
    Rung.RAW,
    Rung.PEER_NAME,
    Rung.SESSION,
]


@pytest.mark.parametrize(("speaker", "changes", "rung", "peer"), EVERY_RUNG)
def test_the_trace_holds_every_rung_tried_up_to_the_winner(
    speaker: Sender, changes: dict[str, Any], rung: Rung, peer: str
) -> None:
    found = who(speaker, rules(**changes))
    tried = LADDER[: LADDER.index(rung) + 1]
    assert trail(found) == [(each, each is rung) for each in tried]
    assert all(step.detail for step in found.steps)


def test_the_session_is_the_last_rung() -> None:
    found = who(OPERATOR, rules(peer_name=""), platform=CONSOLE)
    assert trail(found) == [(each, each is Rung.SESSION) for each in LADDER]
    assert re.fullmatch(r"user-console-[0-9a-f]{8}", found.peer)
    assert found.source == "conversation"
    assert found.personal


def test_a_pin_without_a_name_falls_through_and_says_so() -> None:
    found = who(sender(), rules(pin=True, peer_name=""))
    assert (found.rung, found.peer) == (Rung.RAW, MIRA)
    assert "peerName is empty" in found.steps[1].detail


def test_unpinning_gives_new_turns_to_the_account_unless_it_is_aliased() -> None:  # H-08
    assert who(sender(), rules(pin=True)).peer == "mira"
    assert who(sender(), rules(pin=False)).peer == MIRA
    assert who(sender(), rules(aliases={MIRA: "mira"})).peer == "mira"


# --- aliases -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "speaker", "platform", "matches"),
    [
        (MIRA, sender(), TELEGRAM, True),
        (f"telegram:{MIRA}", sender(), TELEGRAM, True),
        (f"telegram:{MIRA}", sender(), DISCORD, False),
        (MIRA, sender(), DISCORD, True),
        (f"slack:{ALPHA}:{MIRA_SLACK}", slack_user(), SLACK, True),
        (f"{ALPHA}:{MIRA_SLACK}", slack_user(), SLACK, True),
        (f"slack:{MIRA_SLACK}", slack_user(), SLACK, True),
        (MIRA_SLACK, slack_user(), SLACK, True),
        (MIRA_SLACK, slack_user(team=BETA), SLACK, True),
        (f"{ALPHA}:{MIRA_SLACK}", slack_user(team=BETA), SLACK, False),
        (f"slack:{ALPHA}:W0GRID0001", slack_user("W0GRID0001"), SLACK, True),
        ("", sender(""), TELEGRAM, False),
        ("mira_k", sender(name="mira_k"), TELEGRAM, False),
    ],
)
def test_alias_keys(key: str, speaker: Sender, platform: PlatformName, matches: bool) -> None:
    found = who(speaker, rules(aliases={key: "alice"}), platform=platform)
    assert (found.rung is Rung.ALIAS) is matches
    assert (found.peer == "alice") is matches
    if matches:
        assert found.source == f'userPeerAliases["{key}"]'
        assert found.source in found.steps[-1].detail


def test_the_narrowest_key_wins_and_the_primary_id_comes_first() -> None:
    aliases = {MIRA: "bare", f"telegram:{MIRA}": "narrow", TOBIAS: "second"}
    speaker = sender(alternatives=(TOBIAS,))
    assert who(speaker, rules(aliases=aliases)).peer == "narrow"
    del aliases[f"telegram:{MIRA}"]
    assert who(speaker, rules(aliases=aliases)).peer == "bare"
    del aliases[MIRA]
    assert who(speaker, rules(aliases=aliases)).peer == "second"


def test_a_confirmed_link_counts_after_the_operators_map() -> None:
    linked = rules(links={f"telegram:{MIRA}": "alice"}, prefix="tg_")
    found = who(sender(), linked)
    assert (found.rung, found.peer) == (Rung.ALIAS, "alice")
    assert found.source == f"link telegram:{MIRA}"
    assert who(sender(), rules(links={MIRA: "alice"})).rung is Rung.RAW


@pytest.mark.parametrize(("target", "conflict"), [("bob", True), ("alice", False)])
def test_the_operator_wins_over_a_link_and_a_conflict_is_shown(
    target: str, conflict: bool
) -> None:
    both = rules(aliases={MIRA: target}, links={f"telegram:{MIRA}": "alice"})
    found = who(sender(), both)
    assert found.peer == target
    assert ("overrules" in found.steps[-1].detail) is conflict


def test_the_trace_names_the_keys_that_were_looked_for() -> None:
    found = who(slack_user(), platform=SLACK)
    alias = next(step for step in found.steps if step.rung is Rung.ALIAS)
    forms = (f"slack:{ALPHA}:{MIRA_SLACK}", f"{ALPHA}:{MIRA_SLACK}", MIRA_SLACK)
    assert all(form in alias.detail for form in forms)


def test_equal_users_of_two_teams_are_two_people() -> None:  # H-09
    peers = [
        who(slack_user(user, team), platform=SLACK).peer
        for user, team in ((MIRA_SLACK, ALPHA), (MIRA_SLACK, BETA), ("W0GRID0001", ALPHA))
    ]
    assert peers == [MIRA_SLACK, f"slack_{BETA}_{MIRA_SLACK}", "W0GRID0001"]


# --- who is nobody -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("speaker", "where"),
    [
        (UNREADABLE, IN_GROUP),
        (sender(None), IN_GROUP),
        (sender(""), IN_GROUP),
        (sender("1087968824", SenderKind.SERVICE), IN_GROUP),
        (sender("777000", SenderKind.SERVICE), IN_DIRECT),
        (sender("222", SenderKind.BOT), IN_DIRECT),
        (sender(None, SenderKind.WEBHOOK), IN_GROUP),
    ],
)
@pytest.mark.parametrize("pin", [True, False])
def test_what_is_no_person_stands_for_nobody(  # H-07
    speaker: Sender, where: ConversationKey, pin: bool
) -> None:
    found = who(speaker, rules(pin=pin, aliases={"777000": "x", "": "y"}), where=where)
    assert re.fullmatch(r"anon-telegram-[0-9a-f]{8}", found.peer)
    assert not found.personal
    assert trail(found) == [(Rung.UNATTRIBUTED, True)]


def test_a_webhook_is_named_after_its_id_only() -> None:  # H-11
    hooks = [
        sender("812345678900000777", SenderKind.WEBHOOK, name=name) for name in ("Ari", "Rowan")
    ]
    chosen = rules(pin=True, aliases={"812345678900000777": "mira"})
    found = [who(hook, chosen, platform=DISCORD, where=IN_GROUP) for hook in hooks]
    assert {each.peer for each in found} == {"webhook-discord-812345678900000777"}
    assert not any(each.personal for each in found)


def test_two_conversations_have_two_nobodies() -> None:
    other = conversation(PlaceKind.GROUP, "-4455667")
    assert who(UNREADABLE, where=IN_GROUP).peer != who(UNREADABLE, where=other).peer


def test_an_unreadable_sender_of_a_direct_message_goes_by_the_conversation() -> None:
    found = who(UNREADABLE)
    assert (found.rung, found.personal) == (Rung.SESSION, True)
    assert re.fullmatch(r"user-telegram-[0-9a-f]{8}", found.peer)
    assert who(UNREADABLE, rules(pin=True)).peer == "mira"


@pytest.mark.parametrize("pin", [True, False])
def test_a_bot_has_a_peer_of_its_own_through_the_operators_map_only(pin: bool) -> None:  # I9
    bot = sender("222", SenderKind.BOT)
    named = who(bot, rules(pin=pin, aliases={"telegram:222": "helper"}))
    assert (named.peer, named.rung, named.personal) == ("helper", Rung.ALIAS, True)
    linked = who(bot, rules(pin=pin, links={"telegram:222": "alice"}))
    assert linked.rung is Rung.UNATTRIBUTED


def test_the_operator_of_the_console_has_no_account() -> None:
    found = who(sender("700100201", SenderKind.OPERATOR), platform=CONSOLE)
    assert (found.peer, found.rung) == ("mira", Rung.PEER_NAME)


def test_a_renamed_account_stays_and_a_taken_handle_is_a_stranger() -> None:  # H-10
    handle = rules(aliases={MIRA: "mira", "mira_k": "wrong"})
    days = [sender(name="mira_k"), sender(name="mira_new"), sender("700999999", name="mira_k")]
    assert [who(day, handle).peer for day in days] == ["mira", "mira", "700999999"]


# --- names -------------------------------------------------------------------------------------


def test_a_user_with_the_agents_name_gets_another() -> None:  # H-14
    chosen = rules(prefix="", ai_peer="U0BROOK001")
    found = who(slack_user("U0BROOK001"), chosen, platform=SLACK)
    hashed = naming.digest(f"slack:{ALPHA}:U0BROOK001")[:8]
    assert found.peer == f"U0BROOK001-{hashed}"
    aliased = rules(aliases={MIRA: "brook", TOBIAS: "brook"})
    peers = {who(sender(each), aliased).peer for each in (MIRA, TOBIAS)}
    assert len(peers) == 2
    assert "brook" not in peers


def test_a_configured_name_that_needs_cleaning_keeps_one_name() -> None:
    first = who(sender(), rules(aliases={MIRA: "Zoë"}))
    held: dict[str, str] = {first.peer: first.original}
    again = who(sender(), rules(aliases={MIRA: "Zoë"}), owner=held.get)
    assert first.peer == again.peer == f"Zo--{naming.digest('Zoë')[:8]}"
    assert first.original == "Zoë"


def test_a_configured_name_may_be_one_made_for_an_account() -> None:  # H-13
    """An operator copies a peer from ``people list``: he means that person."""
    held = "tele-gram-1a2b3c4d"
    found = who(sender(), rules(aliases={MIRA: held}), owner=lambda _: "tele gram")
    assert (found.peer, found.original) == (held, "tele gram")
    joined = rules(aliases={"discord:99": MIRA})
    assert who(sender("99"), joined, platform=DISCORD).peer == who(sender(), joined).peer


def test_a_generated_name_that_another_original_holds_is_hashed() -> None:
    found = who(sender(), rules(prefix="a b"), owner=lambda name: "x" if len(name) < 25 else None)
    assert re.fullmatch(rf"a-b{MIRA}-[0-9a-f]{{16}}", found.peer)


def test_long_ids_with_equal_beginnings_are_two_people() -> None:  # H-06
    chosen = rules(prefix="slack_acme-holding-international-production_")
    peers = {
        who(slack_user("U" + "0" * 70 + end), chosen, platform=SLACK).peer for end in ("1", "2")
    }
    assert len(peers) == 2
    assert all(naming.is_legal(peer) for peer in peers)


def test_an_id_comes_out_digit_for_digit() -> None:  # H-02, H-03
    assert who(sender(MIRA_DISCORD), platform=DISCORD).peer == MIRA_DISCORD
    assert who(sender("007001")).peer == "007001"
    assert who(sender("-4455667")).peer == "telegram_-4455667"
    assert who(sender("4455667")).peer == "4455667"


SPEAKERS = st.tuples(
    st.sampled_from([TELEGRAM, DISCORD, SLACK]),
    st.sampled_from([None, ScopeId(ALPHA), ScopeId(BETA)]),
    st.text("0129UWT_-:é", min_size=1, max_size=120) | st.sampled_from([MIRA, MIRA_DISCORD]),
)


@given(
    st.lists(SPEAKERS, min_size=2, max_size=6, unique=True),
    st.sampled_from(["", "tg_", "{platform}_", "ü", "p" * 99]),
)
def test_two_accounts_never_share_a_peer_without_a_rule(  # I8
    speakers: list[tuple[PlatformName, ScopeId | None, str]], prefix: str
) -> None:
    held: dict[str, str] = {}
    for platform, scope, user in speakers:
        speaker = sender(user, scope=scope if platform == SLACK else None)
        found = who(speaker, rules(prefix=prefix), platform=platform, owner=held.get)
        assert naming.is_legal(found.peer)
        held[found.peer] = found.original
    accounts = {(name, scope if name == SLACK else None, user) for name, scope, user in speakers}
    assert len(held) == len(accounts)


def test_a_foreign_conversation_key_is_refused() -> None:
    with pytest.raises(ValueError, match="conversation key"):
        who(UNREADABLE, where=ConversationKey("nonsense"))
