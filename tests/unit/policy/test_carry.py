"""What one profile's memory settings carry to another's."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.policy.carry import Fate, Said, Side, plan

DEFAULTS: dict[str, Any] = {
    **{"baseUrl": None, "apiKey": None, "enabled": None, "workspace": "hermes"},
    **{"peerName": None, "aiPeer": "hermes", "userPeerAliases": {}, "sessions": {}},
    **{"recallMode": "hybrid", "contextTokens": None},
}


def carried(
    source: dict[str, Any],
    target: dict[str, Any],
    root: dict[str, Any] | None = None,
    *,
    used: bool = False,
    own_root: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return key → what is written, or ``kept: why``. ``own_root``: the target's own file."""
    found = plan(
        Side(Said(source, root or {}), "hermes"),
        Side(
            Said(target, (root or {}) if own_root is None else own_root), "hermes_work", used=used
        ),
        DEFAULTS,
        one_file=own_root is None,
    )
    return {
        step.key: step.after if step.fate is Fate.WRITTEN else f"kept: {step.why}"
        for step in found
    }


SAYS, SERVER = "kept: it says so itself", "kept: it has a server of its own"


@pytest.mark.parametrize(
    ("source", "target", "root", "written"),
    [
        # what is said is carried, what is not said is not touched
        ({"recallMode": "tools"}, {}, {}, {"recallMode": "tools"}),
        ({"recallMode": "tools"}, {"recallMode": "context"}, {}, {"recallMode": "tools"}),
        ({}, {"recallMode": "context"}, {}, {}),
        # what holds already is not written
        ({"recallMode": "hybrid", "contextTokens": None}, {}, {}, {}),
        ({"recallMode": "tools"}, {"recallMode": "tools"}, {}, {}),
        ({}, {}, {"recallMode": "tools"}, {}),
        ({}, {"recallMode": "context"}, {"recallMode": "tools"}, {"recallMode": "tools"}),
        # who people are: only where nothing is said
        ({"peerName": "ada"}, {}, {}, {"peerName": "ada"}),
        ({"peerName": "ada"}, {"peerName": "bob"}, {}, {"peerName": SAYS}),
        ({"userPeerAliases": {"1": "a"}}, {"userPeerAliases": {}}, {}, {"userPeerAliases": SAYS}),
        ({"enabled": True}, {"enabled": False}, {}, {"enabled": SAYS}),
        # a server with its key, together
        ({"baseUrl": "u", "apiKey": "k"}, {}, {}, {"baseUrl": "u", "apiKey": "k"}),
        (
            {"baseUrl": "u", "apiKey": "k"},
            {"baseUrl": "v"},
            {},
            {"baseUrl": SERVER, "apiKey": SERVER},
        ),
        ({}, {}, {"baseUrl": "u", "apiKey": "k"}, {}),
        # the workspace is shared, but no history is left behind
        ({"workspace": "house"}, {}, {}, {"workspace": "house"}),
        ({"workspace": "house"}, {"workspace": "mine"}, {}, {"workspace": SAYS}),
        # agent and places are the profile's own
        ({"aiPeer": "iris", "sessions": {"/a": "b"}}, {}, {}, {}),
        ({}, {}, {"aiPeer": "iris"}, {"aiPeer": "hermes_work"}),
        ({"aiPeer": "iris"}, {}, {"aiPeer": "bob"}, {}),
        ({}, {"aiPeer": "iris"}, {"aiPeer": "iris"}, {}),
    ],
)
def test_what_is_carried(
    source: dict[str, Any], target: dict[str, Any], root: dict[str, Any], written: dict[str, Any]
) -> None:
    assert carried(source, target, root) == written


def test_a_profile_that_was_used_keeps_what_its_memory_is_in() -> None:
    found = carried({"workspace": "house", "baseUrl": "u", "recallMode": "tools"}, {}, used=True)
    kept = "kept: what it remembers is there"
    assert found == {"workspace": kept, "baseUrl": kept, "recallMode": "tools"}


def test_the_root_of_a_file_of_its_own_is_the_profiles_own_word() -> None:
    found = carried({"peerName": "ada", "recallMode": "tools"}, {}, own_root={"peerName": "bob"})
    assert found == {"peerName": SAYS, "recallMode": "tools"}
