"""honcho.json: hosts, older spellings, the alias map, and what does not fit together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.model.errors import ConfigurationError
from gateway.settings.honcho_schema import HonchoSettings
from gateway.settings.read import needs_service_problem, read
from tests.unit.settings.homes import MODELS

if TYPE_CHECKING:
    from tests.unit.settings.homes import Homes


def test_without_files_all_is_default(homes: Homes) -> None:
    loaded = homes.read()
    assert loaded.honcho == HonchoSettings()
    assert loaded.honcho_file == homes.home.path / "honcho.json"
    assert not loaded.honcho.active


def test_a_profile_names_its_host(homes: Homes) -> None:
    found = homes.read(profile="work").honcho
    assert (found.host, found.workspace, found.ai_peer) == ("hermes_work",) * 3


@pytest.mark.parametrize(
    ("written", "name"), [("default", "work"), ("iris", "iris"), (None, "work")]
)
def test_a_profiles_folder_says_whose_it_is(homes: Homes, written: str | None, name: str) -> None:
    home = homes.home.of("work")
    home.path.mkdir(parents=True)
    if written:
        home.config.write_text(f"profile: {written}\n")
    assert read(home, environ={}, platform_models=MODELS).settings.profile == name


def test_a_text_is_judged_in_place_of_a_file(homes: Homes) -> None:
    homes.write(honcho='{"recallMode": "tools"}')
    path = homes.home.honcho
    found = read(
        homes.home, environ={}, platform_models=MODELS, instead={path: '{"recallMode": "context"}'}
    )
    assert found.honcho.recall_mode == "context"
    with pytest.raises(ConfigurationError, match="recallMode"):
        read(homes.home, environ={}, platform_models=MODELS, instead={path: '{"recallMode": 1}'})
    assert homes.read().honcho.recall_mode == "tools"


def test_values(homes: Homes) -> None:
    found = homes.read(
        honcho="""{
  "baseUrl": "http://127.0.0.1:8000/v3/", "timeout": 2.5, "peerName": " Zoe\\u0308 ",
  "writeFrequency": 5, "contextTokens": 1200, "dialecticDepth": 2,
  "dialecticDepthLevels": ["low", "max"], "recallMode": "auto", "observationMode": "cross",
  "observation": {"user": {"observeOthers": true}}, "memoryMode": "local",
  "agentMemoryMode": "honcho", "runtimePeerPrefix": "{platform}_", "saveMessages": "off",
  "sessions": {"telegram:dm:7": "seven"}
}"""
    ).honcho
    assert found.base_url == "http://127.0.0.1:8000"
    assert (found.timeout, found.peer_name, found.write_frequency) == (2.5, "Zo\u00eb", 5)
    assert (found.context_tokens, found.dialectic_depth_levels) == (1200, ("low", "max"))
    assert (found.recall_mode, found.observation_mode) == ("hybrid", "directional")
    assert found.observation.user.observe_others is True
    assert found.observation.ai.observe_me is None
    assert (found.user_mode, found.agent_mode) == ("local", "honcho")
    assert (found.runtime_peer_prefix, found.save_messages) == ("{platform}_", False)
    assert found.sessions == {"telegram:dm:7": "seven"}
    assert found.active


PINS = [
    ('{"pinPeerName": true}', True),
    ('{"pinPeerName": true, "pinUserPeer": false}', False),
    ('{"pinUserPeer": false, "pinPeerName": true}', False),
    ('{"pinPeerName": "false"}', False),
    ('{"pin_peer_name": "yes"}', True),
    ('{"pinUserPeer": true, "hosts": {"hermes": {"pinPeerName": false}}}', False),
    ('{"pinPeerName": false, "hosts": {"hermes": {"pinUserPeer": "on"}}}', True),
    ('{"hosts": {"other": {"pinUserPeer": true}}}', False),
    *((f'{{"pinUserPeer": {word}}}', False) for word in ('"false"', '"no"', '"0"', '"False "')),
]


@pytest.mark.parametrize(("honcho", "pinned"), PINS)
def test_pin(homes: Homes, honcho: str, pinned: bool) -> None:
    """H-08, H-55: host new, host old, root new, root old; words mean what they say."""
    text = honcho.replace("{", '{"peerName": "mira", ', 1)
    assert homes.read(honcho=text).honcho.pin_user_peer is pinned


def test_host_block_beats_root_and_its_alias_map_replaces(homes: Homes) -> None:
    loaded = homes.read(
        honcho="""{
  "workspace": "root", "peerName": "mira", "userPeerAliases": {"7": "mira"},
  "hosts": {"hermes": {"workspaceId": "host",
    "userPeerAliases": {"discord:8": "tobias"}}}
}"""
    )
    assert (loaded.honcho.workspace, loaded.honcho.peer_name) == ("host", "mira")
    assert loaded.honcho.user_peer_aliases == {"discord:8": "tobias"}
    assert loaded.sources["discord:8"].line == 4
    assert loaded.sources["discord:8"].file == homes.home.honcho
    assert loaded.key_sources["workspace"].line == 3


@pytest.mark.parametrize(
    ("hosts", "environ", "workspace"),
    [
        ('"hermes_work": {"workspace": "new"}, "hermes.work": {"workspace": "old"}', {}, "new"),
        ('"hermes.work": {"workspace": "old"}', {}, "old"),
        ('"hermes": {"workspace": "default"}', {}, "hermes_work"),
        ('"mine": {"workspace": "mine"}', {"HERMES_HONCHO_HOST": "mine"}, "mine"),
    ],
)
def test_host_of_a_profile(
    homes: Homes, hosts: str, environ: dict[str, str], workspace: str
) -> None:
    text = f'{{"hosts": {{{hosts}}}}}'
    assert homes.read(honcho=text, profile="work", environ=environ).honcho.workspace == workspace


def test_older_spellings(homes: Homes) -> None:
    loaded = homes.read(
        honcho='{"base_url": "http://h:1", "requestTimeout": 5, "user_memory_mode": "local",'
        ' "user_peer_aliases": {"7": "mira"}, "queryRewrite": true, "baseUrl": "http://h:2"}'
    )
    assert (loaded.honcho.base_url, loaded.honcho.timeout) == ("http://h:2", 5)
    assert (loaded.honcho.user_mode, loaded.honcho.agent_mode) == ("local", "hybrid")
    assert loaded.honcho.user_peer_aliases == {"7": "mira"}
    assert loaded.unused == ("honcho.json:1: queryRewrite",)
    assert loaded.warnings[0] == "honcho.json:1: base_url: has no effect: baseUrl stands in line 1"


@pytest.mark.parametrize("place", [".hermes/honcho.json", ".honcho/config.json"])
def test_search_order(homes: Homes, place: str) -> None:
    path = homes.user / place
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"workspace": "found"}')
    loaded = homes.read()
    assert (loaded.honcho.workspace, loaded.honcho_file) == ("found", path)
    assert loaded.files == (path,)


def test_environment_fills_what_the_file_leaves_open(homes: Homes) -> None:
    environ = {
        "HONCHO_API_KEY": "from-env",
        "HONCHO_BASE_URL": "https://honcho.example/v3",
        "HONCHO_WORKSPACE_ID": "env",
        "HONCHO_TIMEOUT": "12",
    }
    loaded = homes.read(honcho='{"workspace": "file"}', environ=environ)
    found = loaded.honcho
    assert (found.workspace, found.timeout) == ("file", 12)
    assert found.base_url == "https://honcho.example"
    assert found.api_key is not None
    assert found.api_key.get_secret_value() == loaded.secrets["HONCHO_API_KEY"] == "from-env"


def test_cloud_key_is_not_sent_to_the_local_server(homes: Homes) -> None:
    """O2: each key goes to its own server only, and both stay in the file."""
    text = '{"apiKey": "cloud-key", "hosts": {"hermes": {"baseUrl": "http://127.0.0.1:8000"%s}}}'
    loaded = homes.read(honcho=text % "")
    assert loaded.honcho.api_key is None
    assert "not sent" in loaded.warnings[0]
    assert "cloud-key" not in repr(loaded)
    own = homes.read(honcho=text % ', "apiKey": "jwt"').honcho.api_key
    assert own is not None
    assert own.get_secret_value() == "jwt"


def test_alias_keys_and_targets_are_clean(homes: Homes) -> None:
    """H-04, H-12: outer blanks go, names are composed, inner blanks stay."""
    loaded = homes.read(
        honcho=json.dumps(
            {
                "userPeerAliases": {
                    " 700100200": "mira ",
                    "700100201\u00a0": "Zoe\u0308",
                    "700100202": "Zo\u00eb",
                    "slack:T0A:U0B": "Mira Sol",
                    "T0A:U0C": "x",
                    "telegram: 8": 9,
                },
                "peerName": "  mira",
            }
        )
    )
    assert loaded.honcho.user_peer_aliases == {
        "700100200": "mira",
        "700100201": "Zo\u00eb",
        "700100202": "Zo\u00eb",
        "slack:T0A:U0B": "Mira Sol",
        "T0A:U0C": "x",
        "telegram:8": "9",
    }
    assert set(loaded.sources) == set(loaded.honcho.user_peer_aliases)
    assert loaded.honcho.peer_name == "mira"


def test_equal_alias_keys(homes: Homes) -> None:
    same = homes.read(honcho='{"userPeerAliases": {"7": "mira",\n" 7": "mira "}}')
    assert same.warnings == (
        'honcho.json:2: userPeerAliases." 7": the same account as in line 1; remove one',
    )
    assert homes.faults(honcho='{"userPeerAliases": {"7": "mira",\n" 7": "tobias"}}') == (
        'honcho.json:2: userPeerAliases." 7": the same account as in line 1, there mira, '
        "here tobias; keep one",
    )


CASES: list[tuple[str, str]] = [
    *(
        (f'"pinUserPeer": {typed}', f"pinUserPeer: {shown} is not a switch; write true or false")
        for typed, shown in (('"treu"', "treu"), ("null", "null"), ("2", "2"), ('""', '""'))
    ),
    ('"pinUserPeer": []', "pinUserPeer: a list is not a single value; write one"),
    (
        '"contextTokens": "1200"',
        "contextTokens: 1200 is not a whole number but text; write it without quotes",
    ),
    ('"contextTokens": -5', "contextTokens: -5 is too small; write 1 or more"),
    (
        '"contextTokens": 1e3',
        "contextTokens: 1e3 is not a whole number; write plain decimal digits",
    ),
    (
        '"contextTokens": true',
        "contextTokens: true is not a whole number; write plain decimal digits",
    ),
    (
        '"observationMode": "Directional"',
        "observationMode: Directional is not one of directional, unified; "
        "did you mean directional?",
    ),
    (
        '"writeFrequency": "often"',
        "writeFrequency: often is not one of async, turn, session or a whole number; "
        "write plain decimal digits",
    ),
    ('"writeFrequency": 0', "writeFrequency: 0 is too small; write 1 or more"),
    ('"workspace": " "', 'workspace: " " is too short; write at least 1'),
    (
        '"userPeerAliases": []',
        'userPeerAliases: a list is not a mapping; write {"<account id>": "<person>"}',
    ),
    (
        '"userPeerAliases": {"7": ""}',
        'userPeerAliases.7: "" is not a name; write the person\'s name or remove the entry',
    ),
    ('"userPeerAliases": {"7": 1.5}', "userPeerAliases.7: 1.5 is not a text; write it in quotes"),
    (
        '"userPeerAliases": {"7": true}',
        "userPeerAliases.7: true is not a text; write it in quotes",
    ),
    (
        '"userPeerAliases": {"7": "mi\\u200bra"}',
        'userPeerAliases.7: "mi\\u200bra" holds the invisible character U+200B: '
        "type it again by hand",
    ),
    *(
        (
            f'"userPeerAliases": {{"{key}": "mira"}}',
            f"userPeerAliases: {key} is not an account id; "
            "write the id, exactly as the platform shows it; names are no ids",
        )
        for key in ("8.1e17", "812345678901234567.0", "true", "@mira", "７００")
    ),
    (
        '"userPeerAliases": {"discord:x": "mira"}',
        "userPeerAliases: discord:x is not an account id; write the digits; names are no ids",
    ),
    (
        '"pinUserPeer": true',
        "pinUserPeer: true needs peerName; write your name there, or false here",
    ),
    (
        '"pinUserPeer": true, "peerName": " "',
        "pinUserPeer: true needs peerName; write your name there, or false here",
    ),
    (
        '"peerName": "brook", "aiPeer": "brook "',
        "peerName: brook is aiPeer too; give one of them another name",
    ),
    (
        '"userPeerAliases": {"700100200": "hermes"}',
        "userPeerAliases.700100200: hermes is aiPeer (by default the host's name) too; "
        "give one of them another name",
    ),
    (
        '"dialecticDepth": 3, "dialecticDepthLevels": ["low"]',
        "dialecticDepthLevels: 1 of 3 levels (dialecticDepth); write one for each pass, or null",
    ),
    (
        '"dialecticDepthLevels": ["hihg"]',
        "dialecticDepthLevels: hihg is not one of minimal, low, medium, high, max; "
        "did you mean high?",
    ),
    ('"hosts": {"hermes": []}', "hosts.hermes: a list is not a section; write its keys in {}"),
    (
        '"hosts": {"hermes": {"recallMode": "x"}}',
        "hosts.hermes.recallMode: x is not one of hybrid, context, tools",
    ),
]


@pytest.mark.parametrize(("body", "fault"), CASES)
def test_fault(homes: Homes, body: str, fault: str) -> None:
    """H-02, H-04, H-05, H-12, H-14, H-55."""
    assert homes.faults(honcho=f"{{{body}}}") == (f"honcho.json:1: {fault}",)


def test_names_that_differ_in_case_are_two(homes: Homes) -> None:
    """H-14: nothing is lower-cased, so Brook and brook do not clash."""
    assert homes.read(honcho='{"peerName": "Brook", "aiPeer": "brook"}').honcho.ai_peer == "brook"


@pytest.mark.parametrize(("typed", "used"), [(0, 1), (-5, 1), (4, 3), (99, 3)])
def test_depth_is_clamped_and_said(homes: Homes, typed: int, used: int) -> None:
    loaded = homes.read(honcho=f'{{"dialecticDepth": {typed}}}')
    assert loaded.honcho.dialectic_depth == used
    assert loaded.warnings == (
        f"honcho.json:1: dialecticDepth: {typed} is outside 1-3; {used} is used",
    )


def test_what_set_up_put_aside_is_no_unknown_key_in_the_host_block(homes: Homes) -> None:
    kept = '"kept": {"cloud": {"apiKey": "x"}}'
    assert homes.read(honcho=f'{{"hosts": {{"hermes": {{{kept}}}}}}}').warnings == ()
    (warning,) = homes.read(honcho=f"{{{kept}}}").warnings
    assert "kept: unknown key" in warning


def test_unknown_keys_warn_with_the_nearest(homes: Homes) -> None:
    loaded = homes.read(
        honcho='{"pinUserPer": true, "hosts": {"hermes": {"peer_nam": 1}},'
        ' "userPeerAliases": {"telegarm:7": "mira"}}'
    )
    assert loaded.warnings == (
        "honcho.json:1: pinUserPer: unknown key; did you mean pinUserPeer?",
        "honcho.json:1: hosts.hermes.peer_nam: unknown key; did you mean peerName?",
        "honcho.json:1: userPeerAliases.telegarm:7: no platform is called telegarm; "
        "did you mean telegram?",
    )
    assert loaded.honcho.pin_user_peer is False


@pytest.mark.parametrize("key", ["mira_k", "0700100200", "700_100_200", "u0mira0001"])
def test_a_key_that_no_account_has_warns(homes: Homes, key: str) -> None:
    """H-10, H-55."""
    some = '"7": "mira", "U1": "mira", "T1:W1": "mira", "812345678901234567": "mira"'
    loaded = homes.read(honcho=f'{{"userPeerAliases": {{{some},\n"{key}": "mira"}}}}')
    assert loaded.warnings == (
        f"honcho.json:2: userPeerAliases.{key}: no account has such an id, so it means nobody; "
        "names are no ids",
    )


@pytest.mark.parametrize(
    ("access", "warned"),
    [
        ("{}", False),
        ("{allow: {telegram: [1]}}", False),
        ("{allow: {telegram: [1], discord: [2]}}", True),
        ("{places: {telegram: [-1]}}", True),
        ("{allow_all: {slack: true}}", True),
    ],
)
def test_pin_with_others_warns(homes: Homes, access: str, warned: bool) -> None:
    loaded = homes.read(f"access: {access}", '{"pinUserPeer": true, "peerName": "mira"}')
    assert [line.startswith("honcho.json:1: pinUserPeer: ") for line in loaded.warnings] == [
        True
    ] * warned


@pytest.mark.parametrize(
    ("config", "honcho", "provider", "said"),
    [
        ("", '{"apiKey": "k"}', "honcho", True),
        ("", '{"hosts": {"hermes": {"baseUrl": "http://h"}}}', "honcho", True),
        ("", '{"apiKey": "k", "enabled": false}', "builtin", False),
        ("", "{}", "builtin", False),
        ("memory: {provider: builtin}", '{"apiKey": "k"}', "builtin", False),
        ("memory: {provider: honcho}", '{"apiKey": "k"}', "honcho", False),
    ],
)
def test_configured_service_without_provider_line(
    homes: Homes, config: str, honcho: str, provider: str, said: bool
) -> None:
    loaded = homes.read(config, honcho)
    assert loaded.settings.memory.provider == provider
    assert any("memory.provider is honcho" in line for line in loaded.warnings) is said


@pytest.mark.parametrize(
    ("config", "honcho", "missing"),
    [
        ("memory: {provider: honcho}", "{}", True),
        ("memory: {provider: honcho}", '{"enabled": true}', True),
        ("memory: {provider: honcho}", '{"enabled": false}', False),
        ("memory: {provider: honcho}", '{"baseUrl": "http://h"}', False),
        ("memory: {provider: honcho}", '{"apiKey": "k"}', False),
        ("", "{}", False),
    ],
)
def test_service_without_key_and_address(
    homes: Homes, config: str, honcho: str, missing: bool
) -> None:
    problem = needs_service_problem(homes.read(config, honcho))
    assert (problem is not None) is missing
    assert problem is None or ("HONCHO_API_KEY" in problem and "baseUrl" in problem)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=5,
)
_NAMES = st.sampled_from(
    [info.alias or "" for info in HonchoSettings.model_fields.values()] + ["hosts", "pinPeerName"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(honcho=st.dictionaries(_NAMES, _VALUES, max_size=4), nested=st.booleans())
def test_any_json_is_accepted_or_a_configuration_error(
    homes: Homes, honcho: dict[str, Any], nested: bool
) -> None:
    whole = {"hosts": {"hermes": honcho}} if nested else honcho
    problems = homes.problems(honcho=json.dumps(whole))
    if problems is not None:
        assert problems
        assert all("\n" not in line for line in problems)
        return
    loaded = homes.read(honcho=json.dumps(whole))
    for key, typed in honcho.get("userPeerAliases", {}).items():
        assert loaded.honcho.user_peer_aliases[key.strip()] == str(typed).strip()
