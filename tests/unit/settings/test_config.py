"""config.yaml and the environment: right values, or every fault in one line each."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from gateway.model.errors import ConfigurationError
from gateway.settings.read import read
from gateway.settings.schema import Settings
from tests.unit.settings.homes import MODELS, Slack, Telegram

if TYPE_CHECKING:
    from tests.unit.settings.homes import Homes

DEFAULTS = Settings(platforms={"console": Settings().platforms["console"]})


def test_without_files_all_is_default(homes: Homes) -> None:
    loaded = homes.read()
    assert loaded.settings.model_copy(update={"platforms": DEFAULTS.platforms}) == DEFAULTS
    assert {name: loaded.settings.platforms[name] for name in MODELS} == {
        name: model() for name, model in MODELS.items()
    }
    assert (loaded.warnings, loaded.unused, loaded.files) == ((), (), ())


@pytest.mark.parametrize("config", ["", "# nothing\n", "memory:\n  # nothing here\naccess:\n"])
def test_empty_is_default(homes: Homes, config: str) -> None:
    assert homes.read(config).settings == homes.read("").settings


def test_values(homes: Homes) -> None:
    found = homes.read(
        """
language: ru
timezone: Europe/Berlin
conversations:
  max_age: 90m
  reset: {mode: both, idle_minutes: 30, at_hour: 23}
  require_mention: "no"
  free_response: [telegram:-1005550001112, 42]
retention: {text: forever, raw: 12h}
embeddings: {provider: off}
web: {host: 0.0.0.0, port: 80}
voice: {transcribe: {base_url: "http://127.0.0.1:9000/v1", model: whisper}}
model: {fallback: [a, "b:7b"], timeout: 2.5}
platforms: {telegram: {enabled: on}, slack: {enabled: Auto}, console: {enabled: off}}
""".replace("Auto", "auto")
    ).settings
    assert found.language == "ru"
    assert found.zone == ZoneInfo("Europe/Berlin")
    assert found.conversations.max_age == timedelta(minutes=90)
    assert found.conversations.reset.at_hour == 23
    assert found.conversations.require_mention is False
    assert found.conversations.free_response == {"telegram:-1005550001112", "42"}
    assert (found.retention.text, found.retention.raw) == (None, timedelta(hours=12))
    assert found.embeddings.provider == "off"
    assert (found.web.host, found.web.port) == ("0.0.0.0", 80)
    assert found.voice.transcribe is not None
    assert found.voice.transcribe.model == "whisper"
    assert (found.model.fallback, found.model.timeout) == (("a", "b:7b"), 2.5)
    assert found.platforms["telegram"] == Telegram(enabled=True)
    assert found.platforms["slack"] == Slack()
    assert not getattr(found.platforms["console"], "enabled", True)


def test_ids_of_every_spelling_are_the_same_text(homes: Homes) -> None:
    """H-01, H-02, H-03: numbers, texts, a bare string for a list; signs and digits survive."""
    access = homes.read("""
access:
  admins: [telegram:700100200, "slack:T0A:U0B"]
  allow:
    telegram: [700100200, " 700100201 ", 'telegram:700100202']
    discord: 812345678901234567
    slack: U0MIRA
  places: {telegram: [-1005550001112, "-4455667", 4455667]}
""").settings.access
    assert access.admins == {"telegram:700100200", "slack:T0A:U0B"}
    assert access.allow["telegram"] == {"700100200", "700100201", "700100202"}
    assert access.allow["discord"] == {"812345678901234567"}
    assert access.allow["slack"] == {"U0MIRA"}
    assert access.places["telegram"] == {"-1005550001112", "-4455667", "4455667"}
    assert access.places["discord"] == frozenset()


@pytest.mark.parametrize(
    ("config", "line"),
    [
        (
            "access:\n  allow:\n    telegram: [8.1e17]",
            "config.yaml:3: access.allow.telegram: 8.1e17 is not an account id; "
            "write the digits in quotes",
        ),
        (
            "access: {allow: {telegram: [0700100200]}}",
            "config.yaml:1: access.allow.telegram: 0700100200 is not an account id; "
            "write the digits in quotes",
        ),
        (
            "access: {allow: {discord: 700_100_200}}",
            "config.yaml:1: access.allow.discord: 700_100_200 is not an account id; "
            "write the digits in quotes",
        ),
        (
            'access: {allow: {telegram: ["*"]}}',
            "config.yaml:1: access.allow.telegram: * is not an id; "
            "to admit every account set access.allow_all.telegram: true",
        ),
        (
            'access: {allow: {telegram: "1, 2"}}',
            "config.yaml:1: access.allow.telegram: 1, 2 is not a list; "
            "write [a, b], or [] for none",
        ),
        (
            "access:\n  allow:\n    telegram:\n",
            "config.yaml:3: access.allow.telegram: nothing is not a list; "
            "write [a, b], or [] for none",
        ),
        (
            "access: {allow_all: {telegram: maybe}}",
            "config.yaml:1: access.allow_all.telegram: maybe is not a switch; write true or false",
        ),
        (
            "timezone: Mars/Olympus",
            "config.yaml:1: timezone: Mars/Olympus is not a known time zone; "
            "write a name such as Europe/Berlin",
        ),
        (
            "log: {level: Info}",
            "config.yaml:1: log.level: Info is not one of debug, info, warning, error; "
            "did you mean info?",
        ),
        (
            "web:\n  port: 0700",
            "config.yaml:2: web.port: 0700 is not a whole number; write plain decimal digits",
        ),
        ("web: {port: 70000}", "config.yaml:1: web.port: 70000 is too large; write 65535 or less"),
        (
            'web: {port: "80"}',
            "config.yaml:1: web.port: 80 is not a whole number but text; write it without quotes",
        ),
        (
            "conversations: {max_age: 24}",
            "config.yaml:1: conversations.max_age: 24 is not a time span; "
            "write a whole number and a unit: 90s, 15m, 24h, 30d, 1y",
        ),
        (
            "conversations: {reset: {at_hour: 12:30:45}}",
            "config.yaml:1: conversations.reset.at_hour: 12:30:45 is not a whole number; "
            "write plain decimal digits",
        ),
        (
            "platforms: {telegram: {enabled: maybe}}",
            "config.yaml:1: platforms.telegram.enabled: maybe is not a switch or one of auto; "
            "write true or false",
        ),
        ("memory: on", "config.yaml:1: memory: on is not a section; write its keys below it"),
        (
            "voice: {transcribe: {model: x}}",
            "config.yaml:1: voice.transcribe.base_url: is missing; write it",
        ),
        (
            "role: worker",
            "config.yaml:1: role: worker needs store.url: postgresql://…; or write role: all",
        ),
        ("null", "config.yaml:1: null at the top level; write key: value pairs"),
        ("- a", "config.yaml:1: a list at the top level; write key: value pairs"),
        ("a\n", "config.yaml:1: a at the top level; write key: value pairs"),
        ("\tlanguage: ru", "config.yaml:1: a tab; indent with spaces"),
        ("role: all\nrole: all", "config.yaml:2: 'role' stands here and in line 1; remove one"),
        (
            "language: \udc80".encode("utf-8", "surrogatepass"),
            "config.yaml:1: not UTF-8; save the file as UTF-8",
        ),
        ("language: ru".encode("utf-16"), "config.yaml:1: written in UTF-16; save it as UTF-8"),
        ("language: ru".encode("utf-16-le"), "config.yaml:1: written in UTF-16; save it as UTF-8"),
    ],
)
def test_fault(homes: Homes, config: str | bytes, line: str) -> None:
    """H-02, H-54, H-55: the file, the line, the key, the value, the remedy."""
    assert homes.faults(config) == (line,)


def test_all_faults_at_once(homes: Homes) -> None:
    found = homes.faults(
        "web: {port: x}\nlog: {level: loud}\n", '{"pinUserPeer": "treu"}', "nonsense\n"
    )
    assert [line.split(": ")[0] for line in found] == [
        ".env:1",
        "config.yaml:1",
        "config.yaml:2",
        "honcho.json:1",
    ]


def test_unreadable_file_is_named(homes: Homes) -> None:
    homes.home.config.mkdir(parents=True)
    assert homes.faults() == (
        "config.yaml: cannot be read (is a directory); make it a file that this user may read",
    )


def test_forbidden_file_is_named(homes: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    fault = "cannot be read (permission denied); make it a file that this user may read"
    assert f"config.yaml: {fault}" in homes.faults()
    assert f".env: {fault}" in homes.faults()


def test_missing_key_of_a_platform_names_the_file(homes: Homes) -> None:
    class Strict(BaseModel):
        room: str

    homes.write("language: ru\n")
    with pytest.raises(ConfigurationError) as caught:
        read(homes.home, environ={}, platform_models={"matrix": Strict})
    assert caught.value.problems == ("config.yaml:1: platforms.matrix.room: is missing; write it",)


def test_dangling_link_is_named(homes: Homes) -> None:
    homes.home.path.mkdir()
    homes.home.config.symlink_to(homes.user / "gone.yaml")
    assert homes.faults() == ("config.yaml: the link leads nowhere; mend or remove it",)


def test_byte_order_mark_is_accepted(homes: Homes) -> None:
    """H-54."""
    loaded = homes.read("\ufefflanguage: ru\n", '\ufeff{"peerName": "mira"}', "\ufeffA=1\n")
    assert (loaded.settings.language, loaded.honcho.peer_name) == ("ru", "mira")


def test_unknown_keys_warn_with_the_nearest(homes: Homes) -> None:
    loaded = homes.read("""\
langage: ru
access: {alow: {}, allow: {telegarm: [1]}}
platforms: {telegrm: {}, telegram: {moode: polling}}
zzz: 1
""")
    assert loaded.warnings == (
        "config.yaml:2: access.allow.telegarm: unknown key; did you mean telegram?",
        "config.yaml:3: platforms.telegrm: unknown key; did you mean telegram?",
        "config.yaml:3: platforms.telegram.moode: unknown key; did you mean mode?",
        "config.yaml:1: langage: unknown key; did you mean language?",
        "config.yaml:2: access.alow: unknown key; did you mean allow?",
        "config.yaml:4: zzz: unknown key; it has no effect",
    )
    assert loaded.settings.access.allow["telegram"] == frozenset()


def test_a_value_that_does_nothing_yet_is_said(homes: Homes) -> None:
    loaded = homes.read(
        "web: {port: 9000}\nembeddings: {provider: auto}\nretention: {text: 90d, audit: 30d}\n",
        environ={"TELEGRAM_REACTIONS": "true"},
    )
    assert sorted(loaded.warnings) == [
        "environment: TELEGRAM_REACTIONS: has no effect in this version: "
        "messages get no reactions",
    ]


@pytest.mark.parametrize(
    ("web", "warned"),
    [
        ("{host: 0.0.0.0}", True),
        ("{host: page.example.org}", True),
        ("{host: 0.0.0.0, enabled: false}", False),
        ("{host: 127.0.0.2}", False),
        ("{host: localhost}", False),
        ("{port: 9000}", False),
    ],
)
def test_a_page_for_other_machines_is_warned_of(homes: Homes, web: str, warned: bool) -> None:
    told = [line for line in homes.read(f"web: {web}\n").warnings if "web.host" in line]
    assert bool(told) is warned
    assert all("TLS" in line for line in told)


SECRET = "hunter2-Secret-Value"


@pytest.mark.parametrize(
    "config",
    [
        f"platforms: {{telegram: {{webhook: {{secret: [{SECRET}]}}}}}}",
        f"platforms: {{telegram: {{webhook: {{secret: {{a: {SECRET}}}}}}}}}",
        f"store: {{url: postgres//u:{SECRET}@host/db}}\nrole: 7.5",
        f"model: {{name: 1, base_url: 'https//user:{SECRET}@host'}}",
        "web: {port: xoxb-111222333444-hunter2-Secret-Value}",
        "log: {level: sk-ant-0123456789-hunter2-Secret-Value}",
        f"api_token: {SECRET}\nweb: {{port: x}}",
    ],
)
def test_secrets_are_not_repeated(homes: Homes, config: str) -> None:
    """H-42."""
    told = homes.problems(config) or homes.read(config).warnings
    assert told
    assert not [line for line in told if SECRET in line]


def test_fault_in_environment_names_the_variable(homes: Homes) -> None:
    found = homes.faults(
        env="DISCORD_ALLOWED_USERS=1e5\n", environ={"TELEGRAM_ALLOWED_USERS": "700, *"}
    )
    assert found == (
        "environment: TELEGRAM_ALLOWED_USERS: * is not an id; "
        "to admit every account set access.allow_all.telegram: true",
        ".env:1: DISCORD_ALLOWED_USERS: 1e5 is not an account id; "
        "write the digits; names are no ids",
    )


@pytest.mark.parametrize("handle", ["mira_k", "u0mira0001", "<@U0MIRA0001>", "T1:U1:U2", "7"])
def test_a_handle_of_slack_is_no_id(homes: Homes, handle: str) -> None:
    """H-10: whoever holds it tomorrow is somebody else."""
    access = f'access:\n  allow:\n    slack: [U1, "T1:W1", "E1:W1",\n      "{handle}"]\n'
    assert homes.faults(access) == (
        f"config.yaml:4: access.allow.slack: {handle} is not an account id; "
        "write the id, exactly as the platform shows it; names are no ids",
    )


def test_lists_of_the_environment_are_split_and_added(homes: Homes) -> None:
    """H-04: blanks, line ends and empty pieces around ids do no harm."""
    access = homes.read(
        "access: {allow: {telegram: [7], slack: U1}}",
        env="SLACK_ALLOWED_USERS=U2\nTELEGRAM_GROUP_ALLOWED_CHATS=-1005\nDISCORD_ALLOWED_ROLES=9",
        environ={"TELEGRAM_ALLOWED_USERS": "700100200, 700100201 ,\n700100202\r\n,"},
    ).settings.access
    assert access.allow["telegram"] == {"7", "700100200", "700100201", "700100202"}
    assert access.allow["slack"] == {"U1", "U2"}
    assert access.places["telegram"] == access.open_places["telegram"] == {"-1005"}
    assert access.roles["discord"] == {"9"}


def test_environment_beats_dotenv_and_the_file_beats_both(homes: Homes) -> None:
    loaded = homes.read(
        "access: {allow_all: {telegram: false}}",
        env="SLACK_ALLOW_ALL_USERS=no\nDISCORD_ALLOW_ALL_USERS=yes\nTELEGRAM_REACTIONS=1",
        environ={"SLACK_ALLOW_ALL_USERS": "true", "TELEGRAM_ALLOW_ALL_USERS": "true"},
    )
    assert loaded.settings.access.allow_all == {"telegram": False, "discord": True, "slack": True}
    assert loaded.settings.conversations.reactions is True


def test_ids_for_every_platform_go_where_they_fit(homes: Homes) -> None:
    access = homes.read(environ={"GATEWAY_ALLOWED_USERS": "99, U0X"}).settings.access
    assert access.allow == {
        "telegram": {"99"},
        "discord": {"99"},
        "slack": {"U0X"},
    }
    assert homes.faults(
        environ={"GATEWAY_ALLOW_ALL_USERS": "me", "GATEWAY_ALLOWED_USERS": "@m"}
    ) == (
        "environment: GATEWAY_ALLOWED_USERS: '@m' is not an account id; "
        "to admit every account set access.allow_all for its platform",
        "environment: GATEWAY_ALLOW_ALL_USERS: me is not a switch; write true or false",
    )


@pytest.mark.parametrize(
    ("environ", "mention", "bots"),
    [
        ({"TELEGRAM_REQUIRE_MENTION": "false"}, False, "ignore"),
        ({"TELEGRAM_REQUIRE_MENTION": "false", "SLACK_REQUIRE_MENTION": "true"}, True, "ignore"),
        ({"DISCORD_ALLOW_BOTS": "all"}, True, "all"),
        ({"DISCORD_ALLOW_BOTS": "all", "SLACK_ALLOW_BOTS": "none"}, True, "ignore"),
    ],
)
def test_the_careful_platform_speaks_for_all(
    homes: Homes, environ: dict[str, str], mention: bool, bots: str
) -> None:
    loaded = homes.read(environ=environ)
    assert loaded.settings.conversations.require_mention is mention
    assert loaded.settings.access.bots == bots
    assert bool(loaded.warnings) == (len(environ) > 1)


def test_access_variables_without_counterpart_are_said(homes: Homes) -> None:
    loaded = homes.read(environ={"TELEGRAM_GROUP_ALLOWED_USERS": "7"})
    assert loaded.settings.access.allow["telegram"] == frozenset()
    assert loaded.unused == ("environment: TELEGRAM_GROUP_ALLOWED_USERS",)
    assert "access.allow.telegram" in loaded.warnings[0]


def test_webhook_variables(homes: Homes) -> None:
    environ = {"TELEGRAM_WEBHOOK_URL": "https://x.example/hook", "TELEGRAM_WEBHOOK_PORT": "8080"}
    found = homes.read(environ=environ).settings.platforms["telegram"]
    assert isinstance(found, Telegram)
    assert (found.mode, found.webhook.port) == ("webhook", 8080)
    assert found.webhook.url == "https://x.example/hook"


_KEYS = [
    "language",
    "timezone",
    "role",
    "access",
    "memory: {provider",
    "access: {pairing",
    "access: {allow: {telegram",
    "access: {rate: {per_minute",
    "conversations: {max_age",
    "conversations: {free_response",
    "platforms: {telegram: {enabled",
    "platforms: {telegram: {webhook: {secret",
    "retention: {text",
    "store: {url",
    "web: {port",
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    key=st.sampled_from(_KEYS),
    value=st.one_of(
        st.text(max_size=20),
        st.text(alphabet="0123456789._-+eE:*~[]{}'\", \ttrunoyfasl", max_size=14),
    ),
)
def test_any_value_is_accepted_or_a_configuration_error(
    homes: Homes, key: str, value: str
) -> None:
    config = f"{key}: {value}{'}' * key.count('{')}\n"
    problems = homes.problems(config.encode("utf-8", "replace"))
    assert problems != ()
    assert all("\n" not in line for line in problems or ())
