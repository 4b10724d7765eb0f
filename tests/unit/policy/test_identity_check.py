"""Faults and surprises among the identity keys (H-05, H-09, H-13, H-14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gateway.model.ids import UserId
from gateway.policy import naming
from gateway.policy.identity_check import check, generated_name_clashes
from gateway.policy.runtime_id import RuntimeId
from tests.unit.policy.samples import ALPHA, BETA, DISCORD, MIRA, TELEGRAM, rules

if TYPE_CHECKING:
    from gateway.policy.identity import IdentityRules


def errors(identity_rules: IdentityRules) -> list[str]:
    return check(identity_rules)[0]


def test_a_sound_configuration_has_nothing_to_say() -> None:
    sound = rules(pin=False, aliases={MIRA: "mira", "U0MIRA0001": "mira"})
    assert check(sound, teams=[ALPHA], shared=True) == ([], [])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pin": True, "peer_name": ""}, ["pinUserPeer", "peerName"]),
        ({"peer_name": "brook"}, ['peerName "brook"', 'aiPeer "brook"']),
        ({"aliases": {MIRA: "brook"}}, [f'userPeerAliases["{MIRA}"] "brook"', 'aiPeer "brook"']),
        ({"ai_peer": ""}, ["aiPeer"]),
        (
            {"ai_peer": "bro ok", "peer_name": f"bro-ok-{naming.digest('bro ok')[:8]}"},
            ["peerName", 'aiPeer "bro ok"'],
        ),
    ],
)
def test_errors_name_the_keys(changes: dict[str, Any], words: list[str]) -> None:
    (error,) = errors(rules(**changes))
    assert all(word in error for word in words)


@pytest.mark.parametrize("name", ["Brook", "", "mira"])
def test_names_differ_by_case(name: str) -> None:
    assert errors(rules(peer_name=name)) == []


def test_a_pin_is_a_warning_once_others_are_admitted() -> None:
    assert check(rules(pin=True)) == ([], [])
    none, (warning,) = check(rules(pin=True), shared=True)
    assert none == []
    assert "pinUserPeer" in warning
    assert '"mira"' in warning


@pytest.mark.parametrize(
    ("key", "warned"),
    [
        ("U0MIRA0001", True),
        ("slack:U0MIRA0001", True),
        (f"{ALPHA}:U0MIRA0001", False),
        (f"slack:{ALPHA}:U0MIRA0001", False),
        (MIRA, False),
        (f"telegram:{MIRA}", False),
    ],
)
def test_a_bare_slack_id_is_a_warning_with_two_teams(key: str, warned: bool) -> None:
    chosen = rules(aliases={key: "alice"})
    assert check(chosen, teams=[ALPHA]) == ([], [])
    warnings = check(chosen, teams=[ALPHA, BETA])[1]
    assert [key in warning for warning in warnings] == [True] * warned


TELEGRAM_7 = RuntimeId(TELEGRAM, UserId("7654321"))
DISCORD_99 = RuntimeId(DISCORD, UserId("99"))


def test_a_configured_name_that_was_made_for_an_account_is_told() -> None:
    (line,) = generated_name_clashes(
        rules(aliases={"discord:99": "7654321"}), [TELEGRAM_7, DISCORD_99]
    )
    assert 'userPeerAliases["discord:99"]' in line
    assert "telegram:7654321" in line


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({"peer_name": "7654321"}, 1),
        ({"peer_name": "tg_7654321", "prefix": "tg_"}, 1),
        ({"peer_name": "7654321", "prefix": "tg_"}, 0),
        ({"aliases": {"7654321": "7654321"}}, 0),
        ({"peer_name": "7654321", "aliases": {"telegram:7654321": "alice"}}, 0),
        ({"peer_name": "7654321", "links": {"telegram:7654321": "alice"}}, 0),
        ({"peer_name": "7654321", "pin": True}, 0),
        ({"peer_name": ""}, 0),
    ],
)
def test_only_names_in_use_clash(changes: dict[str, Any], count: int) -> None:
    assert len(generated_name_clashes(rules(**changes), [TELEGRAM_7, DISCORD_99])) == count
