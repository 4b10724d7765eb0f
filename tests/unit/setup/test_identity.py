"""The answers to "who talks to this gateway?" as changes of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gateway.model.ids import PlatformName, ScopeId, UserId
from gateway.policy.runtime_id import RuntimeId
from gateway.settings.splice import REMOVE
from gateway.setup import identity
from gateway.setup.identity import Keys

if TYPE_CHECKING:
    from gateway.setup.drafts import Draft

MINE = RuntimeId(PlatformName("telegram"), UserId("700100200"))
WORK = RuntimeId(PlatformName("slack"), UserId("U0MIRA"), ScopeId("T0HOME"))
AUDIENCE = ("conversations", "audience")


def keys(**changes: Any) -> Keys:
    given = {
        "pin": False,
        "peer_name": "mira",
        "aliases": {},
        "prefix": "",
        "audience": "strict",
        **changes,
    }
    return Keys(**given)


PINNED = keys(pin=True, audience="open")


@pytest.mark.parametrize(
    ("draft", "honcho", "config"),
    [
        (identity.just_me(keys()), {("pinUserPeer",): True}, {AUDIENCE: "open"}),
        (identity.just_me(PINNED), {}, {}),
        (
            identity.me_and_others(keys(), [MINE, WORK]),
            {
                ("userPeerAliases", "telegram:700100200"): "mira",
                ("userPeerAliases", "slack:T0HOME:U0MIRA"): "mira",
            },
            {},
        ),
        (
            identity.me_and_others(PINNED, [MINE]),
            {("pinUserPeer",): False, ("userPeerAliases", "telegram:700100200"): "mira"},
            {AUDIENCE: "strict"},
        ),
        (identity.me_and_others(keys(aliases={"700100200": "mira"}), [MINE]), {}, {}),
        (
            identity.me_and_others(keys(aliases={"telegram:700100200": "old"}), [MINE]),
            {("userPeerAliases", "telegram:700100200"): "mira"},
            {},
        ),
        (
            identity.me_and_others(
                keys(aliases={"telegram:700100200": "old", "700100200": "mira"}), [MINE]
            ),
            {("userPeerAliases", "telegram:700100200"): "mira"},
            {},
        ),
        (identity.me_and_others(keys(aliases={"U0MIRA": "mira"}), [WORK]), {}, {}),
        (identity.only_others(keys(), ""), {}, {}),
        (
            identity.only_others(keys(), "{platform}_"),
            {("runtimePeerPrefix",): "{platform}_"},
            {},
        ),
        (identity.only_others(keys(prefix="x_"), ""), {("runtimePeerPrefix",): ""}, {}),
        (
            identity.only_others(PINNED, "", [MINE]),
            {("pinUserPeer",): False, ("userPeerAliases", "telegram:700100200"): "mira"},
            {AUDIENCE: "strict"},
        ),
        (
            identity.edited(
                keys(aliases={"telegram:1": "a", "telegram:2": "b"}, prefix="x_"),
                pin=True,
                aliases={"telegram:2": "c", "telegram:3": "d"},
                prefix="",
            ),
            {
                ("pinUserPeer",): True,
                ("runtimePeerPrefix",): "",
                ("userPeerAliases", "telegram:2"): "c",
                ("userPeerAliases", "telegram:3"): "d",
                ("userPeerAliases", "telegram:1"): REMOVE,
            },
            {},
        ),
        (identity.edited(keys(), pin=False, aliases={}, prefix=""), {}, {}),
    ],
)
def test_an_answer_is_these_changes(
    draft: Draft, honcho: dict[Any, Any], config: dict[Any, Any]
) -> None:
    assert (draft.honcho, draft.config, draft.env) == (honcho, config, {})


def test_without_a_name_nobody_is_the_owner() -> None:
    assert keys(peer_name="", aliases={"telegram:1": ""}).mine([MINE]) == []
