"""Conversation keys and session names (H-19, H-23, H-24, H-26, H-27, H-28, S1-S3)."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.model.events import Place, PlaceKind, Sender
from gateway.model.ids import AccountId, ConversationKey, PlaceId, PlatformName, ThreadId
from gateway.policy.session import (
    ConsoleNaming,
    KeyParts,
    build_key,
    console_session,
    conversation_key,
    moved,
    parse_key,
    session_original,
)
from tests.unit.policy.samples import (
    BETA,
    GROUP,
    MIRA,
    TOBIAS,
    UNREADABLE,
    direct,
    event,
    group,
    sender,
    slack_user,
)

if TYPE_CHECKING:
    from gateway.policy.session import Sharing

LEGAL = re.compile(r"[A-Za-z0-9_-]{1,100}")


def key(
    place: Place,
    who: Sender | None = None,
    *,
    groups: Sharing = "per-user",
    threads: Sharing = "shared",
    **more: Any,
) -> str:
    return conversation_key(
        event(place, who, **more),
        profile="default",
        group_sessions=groups,
        thread_sessions=threads,
    )


@pytest.mark.parametrize(
    ("place", "found"),
    [
        (direct(), f"default:telegram:111:direct:{MIRA}"),
        (direct(thread="7"), f"default:telegram:111:direct:{MIRA}:7"),
        (group(), f"default:telegram:111:group:{GROUP}:-:{MIRA}"),
        (group(thread="55"), f"default:telegram:111:group:{GROUP}:55"),
        (group("9011", parent="901"), "default:telegram:111:group:9011"),
    ],
)
def test_keys_by_default(place: Place, found: str) -> None:
    assert key(place) == found


@pytest.mark.parametrize(
    ("groups", "threads", "found"),
    [
        ("shared", "shared", (f"{GROUP}", f"{GROUP}:55")),
        ("shared", "per-user", (f"{GROUP}", f"{GROUP}:55:{MIRA}")),
        ("per-user", "per-user", (f"{GROUP}:-:{MIRA}", f"{GROUP}:55:{MIRA}")),
    ],
)
def test_keys_by_configuration(groups: Sharing, threads: Sharing, found: tuple[str, str]) -> None:
    keys = [key(place, groups=groups, threads=threads) for place in (group(), group(thread="55"))]
    assert keys == [f"default:telegram:111:group:{each}" for each in found]


def test_nobody_sees_anothers_conversation() -> None:  # H-23, H-19, H-03
    keys = [
        key(direct(MIRA)),
        key(direct(TOBIAS), sender(TOBIAS)),
        key(direct(MIRA), account="222"),
        key(group()),
        key(group(), sender(TOBIAS)),
        key(group(), groups="shared"),
        key(group("4455667"), groups="shared"),
        key(group("-4455667"), groups="shared"),
        key(group(), UNREADABLE),
        key(group(), slack_user()),
        key(group(), slack_user(team=BETA)),
        key(Place(PlaceKind.CHANNEL, PlaceId(GROUP))),
    ]
    assert len(set(keys)) == len(keys)


def test_a_reply_chain_without_a_topic_stays_in_one_conversation() -> None:  # H-24
    plain = [key(group()), key(group(), message="12")]
    assert len({*plain, key(group(thread="55"))}) == 2


TEXT = st.text(st.characters(), max_size=12) | st.sampled_from(["", "-", ":", "a:b", "%3A"])
KEY_PARTS = st.builds(
    KeyParts,
    TEXT,
    TEXT.map(PlatformName),
    TEXT.map(AccountId),
    st.sampled_from(PlaceKind),
    TEXT.map(PlaceId),
    st.none() | TEXT.map(ThreadId),
    st.none() | TEXT,
)


@given(KEY_PARTS)
def test_a_key_says_its_parts(key_parts: KeyParts) -> None:
    assert parse_key(build_key(key_parts)) == key_parts


@pytest.mark.parametrize(
    "text", ["", "a:b:c", "p:telegram:1:nowhere:5", "a:-:c:direct:e", "a:b:c:direct:e:f:g:h"]
)
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"conversation key|PlaceKind"):
        parse_key(ConversationKey(text))


@given(KEY_PARTS, TEXT.map(PlaceId))
def test_a_moved_group_keeps_all_but_its_id(key_parts: KeyParts, place: PlaceId) -> None:  # H-28
    new = moved(build_key(key_parts), place)
    assert parse_key(new) == replace(key_parts, place=place)
    assert moved(new, place) == new


# --- names on a platform -----------------------------------------------------------------------

GROUP_KEY = build_key(
    KeyParts("default", PlatformName("telegram"), AccountId("111"), PlaceKind.GROUP,
             PlaceId(GROUP), ThreadId("55"))
)  # fmt: skip


def session(
    conversation: ConversationKey = GROUP_KEY,
    workspace: str = "hermes",
    ordinal: int = 1,
    title: str = "",
) -> str:
    return session_original(conversation, workspace=workspace, ordinal=ordinal, title=title)


def test_a_session_is_named_after_its_place_or_title() -> None:
    assert re.fullmatch(rf"telegram-group-{GROUP}-55-[0-9a-f]{{24}}", session())
    assert re.fullmatch(r"Trip-to-Zo---[0-9a-f]{24}", session(title="Trip to Zoë!"))
    assert session() == session()


def test_sessions_of_other_workspaces_and_ordinals_differ() -> None:
    names = {
        session(),
        session(workspace="brook"),
        session(ordinal=2),
        session(workspace="hermes|1"),
        session(moved(GROUP_KEY, PlaceId("-9"))),
    }
    assert len({name[-24:] for name in names}) == 5


@given(KEY_PARTS, KEY_PARTS, st.text(max_size=150))
def test_session_names_are_legal_and_distinct(  # H-27
    first: KeyParts, second: KeyParts, title: str
) -> None:
    names = {session(build_key(each), title=title) for each in (first, second)}
    assert len(names) == len({first, second})
    assert all(LEGAL.fullmatch(name) for name in names)


# --- names on the console ----------------------------------------------------------------------


def console(**changes: Any) -> str:
    defaults: dict[str, Any] = {
        "manual": {},
        "title": "",
        "strategy": "per-directory",
        "cwd": PurePosixPath("/srv/garden/plans"),
        "git_root": PurePosixPath("/srv/garden"),
        "fresh": "s_0001",
        "workspace": "hermes",
        "peer": "mira",
        "peer_prefix": False,
    }
    return console_session(ConsoleNaming(**{**defaults, **changes}))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"strategy": "per-directory"}, "plans"),
        ({"strategy": "per-repo"}, "garden"),
        ({"strategy": "per-repo", "git_root": None}, "plans"),
        ({"strategy": "per-session"}, "s_0001"),
        ({"strategy": "global"}, "hermes"),
        ({"cwd": PurePosixPath("/")}, "hermes"),
        ({"title": "spring"}, "spring"),
        ({"title": "spring", "manual": {"/srv/garden/plans": "beds"}}, "beds"),
        ({"title": "spring", "manual": {"/srv/garden": "beds"}}, "spring"),
    ],
)
def test_console_names(changes: dict[str, Any], name: str) -> None:
    assert console(**changes) == name


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "mira-plans"),
        ({"title": "spring"}, "mira-spring"),
        ({"strategy": "global"}, "mira-hermes"),
        ({"manual": {"/srv/garden/plans": "beds"}}, "beds"),
        ({"peer": ""}, "plans"),
    ],
)
def test_the_peer_in_front(changes: dict[str, Any], name: str) -> None:
    assert console(peer_prefix=True, **changes) == name


@given(st.sets(st.text(st.characters(), min_size=1, max_size=120), min_size=2, max_size=6))
def test_console_names_are_cleaned_and_stay_distinct(titles: set[str]) -> None:  # S3
    names = {console(title=title) for title in titles}
    assert len(names) == len(titles)
    assert all(LEGAL.fullmatch(name) for name in names)
