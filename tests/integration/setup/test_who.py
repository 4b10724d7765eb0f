"""Who talks to this gateway: every answer, on a home that people have written to."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from gateway.store import migrate, people
from gateway.store.people import Account
from gateway.store.sqlite import SqliteStore
from tests.contract.store.talk import Talk
from tests.fakes.clock import START
from tests.integration.setup.operator import contents

if TYPE_CHECKING:
    from gateway.settings.home import Home
    from gateway.store.engine import Tx
    from tests.integration.setup.operator import Operator

ME, FRIEND = "700100200", "700100201"
ENV = "TELEGRAM_BOT_TOKEN=123456:AAinvented\n"
CONFIG = "# ours\naccess:\n  allow: {telegram: ['700100200']}   # me\n"
OPEN = "conversations: {audience: open}  # at home\n"
#: how ``memory setup`` begins when nothing of it changes
BEFORE = (
    ("Where shall memory be kept?", ""),
    ("Name of the agent in memory? Enter means hermes.", ""),
    ("Change how memory works", ""),
)
Script = tuple[tuple[str, str], ...]


def met(tx: Tx) -> None:
    for minutes, (user, name) in enumerate([(FRIEND, "Tobias"), (ME, "Mira\x1b[2J")]):
        at = START + timedelta(minutes=minutes)
        people.seen(tx, Account("telegram", "", user), name=name, language="en", now=at)
    people.grant(tx, Account("telegram", "", ME), admin=True, by="test", now=START)


@pytest.fixture
async def lived_in(home: Home) -> Home:
    """A home whose bot two people have written to, the owner last."""
    home.path.mkdir(mode=0o700)
    home.gateway.mkdir(mode=0o700)
    home.env.write_text(ENV)
    home.env.chmod(0o600)
    home.config.write_text(CONFIG)
    store = SqliteStore(home.database)
    await asyncio.to_thread(migrate.upgrade, store.engine)
    await store.write(met)
    await store.close()
    return home


JUST_ME: Script = (("Who talks to this gateway?", "1"),)
MINE: Script = (
    ("Who talks to this gateway?", "@Me and others"),
    ("Which accounts on Telegram are yours?\r\n  1. 700100200 (Mira), admin\r\n  2. ", "1"),
)
OTHERS: Script = (
    ("Who talks to this gateway?", "@Only others"),
    ("Put something in front of the names made from ids?", "{platform}_"),
)
NO_LONGER_JUST_ME: Script = (
    ("Who talks to this gateway?", "3"),
    ("stays with mira: nothing moves", ""),
    ("Which accounts on Telegram are yours?", "1"),
    ("Put something in front", ""),
)
NOT_POOLED: Script = (
    ("Who talks to this gateway?", "3"),
    ("Make your own accounts mira's", "n"),
    ("Put something in front", ""),
)
EDITED: Script = (
    ("Who talks to this gateway?", "e"),
    ("pinUserPeer: is every account peerName?", "@false"),
    ("userPeerAliases: which account is which person?\r\n  7=old\r\nType account", "mira"),
    ("mira has no = in it", "telegram:mira=x"),
    ("telegram:mira=x is not an account id", "telegram:700100201=hermes"),
    ("is the agent's own name", "telegram:700100201=tobias"),
    ("  telegram:700100201=tobias\r\n", "-7"),
    ("  telegram:700100201=tobias\r\n", "-8"),
    ("8 is not in the list", ""),
    ("runtimePeerPrefix: what stands in front", "-"),
)
PINNED = '{\n  "peerName": "mira",\n  "pinPeerName": true, "pet": 1.0\n}\n'
UNPINNED = '{\n  "peerName": "mira",\n  "pinUserPeer": false, "pet": 1.0'


@pytest.mark.parametrize(
    ("honcho", "config", "script", "then_honcho", "then_config", "said"),
    [
        pytest.param(
            '{"peerName": "mira"}',
            CONFIG,
            JUST_ME,
            '{"peerName": "mira", "hosts": {"hermes": {"pinUserPeer": true}}}',
            f"{CONFIG}conversations:\n  audience: open\n",
            "telegram:700100201 (Tobias): now 700100201, then mira",
            id="just me",
        ),
        pytest.param(
            '{"peerName": "mira", "hosts": {"hermes": {"aiPeer": "hermes"}}}\n',
            CONFIG + OPEN,
            MINE,
            '{"peerName": "mira", "hosts": {"hermes": {"aiPeer": "hermes", '
            '"userPeerAliases": {"telegram:700100200": "mira"}}}}\n',
            CONFIG + OPEN.replace("open", "strict"),
            "Note: console, telegram:700100200 are one person: mira",
            id="me and others",
        ),
        pytest.param(
            '{"peerName": "mira", "userPeerAliases": {"700100200": "mira"}}',
            CONFIG,
            (MINE[0], ("Enter means 700100200. - means nobody.", "")),
            '{"peerName": "mira", "userPeerAliases": {"700100200": "mira"}}',
            CONFIG,
            "Nothing changes.",
            id="me and others, as it is",
        ),
        pytest.param(
            '{"peerName": "mira"}',
            CONFIG,
            (MINE[0], ("Which accounts on Telegram are yours?", "-")),
            '{"peerName": "mira"}',
            CONFIG,
            "No account is yours yet",
            id="me and others, not seen yet",
        ),
        pytest.param(
            '{"peerName": "mira"}',
            CONFIG,
            OTHERS,
            '{"peerName": "mira", "hosts": {"hermes": {"runtimePeerPrefix": "{platform}_"}}}',
            CONFIG,
            "telegram:700100201 (Tobias): now 700100201, then telegram_700100201",
            id="only others",
        ),
        pytest.param(
            PINNED,
            CONFIG + OPEN,
            NO_LONGER_JUST_ME,
            f'{UNPINNED},\n  "hosts": {{\n    "hermes": {{\n      "userPeerAliases": {{\n'
            '        "telegram:700100200": "mira"\n      }\n    }\n  }\n}\n',
            CONFIG + OPEN.replace("open", "strict"),
            "telegram:700100200 (Mira): mira, as before",
            id="a pin is taken away and the owner stays",
        ),
        pytest.param(
            PINNED,
            CONFIG,
            NOT_POOLED,
            f"{UNPINNED}\n}}\n",
            CONFIG,
            "telegram:700100200 (Mira): now mira, then 700100200",
            id="a pin is taken away and the owner goes",
        ),
        pytest.param(
            PINNED,
            CONFIG,
            (("Who talks to this gateway?", ""),),
            '{\n  "peerName": "mira",\n  "pinUserPeer": true, "pet": 1.0\n}\n',
            CONFIG,
            "pinPeerName is now called pinUserPeer",
            id="left as it is, with an old key",
        ),
        pytest.param(
            '{"peerName": "mira", "pinUserPeer": true, "runtimePeerPrefix": "x_",\n'
            ' "userPeerAliases": {"7": "old"}}',
            CONFIG,
            (*EDITED, ("stays with mira: nothing moves", "n")),
            '{"peerName": "mira", "pinUserPeer": false, "runtimePeerPrefix": "",\n'
            ' "userPeerAliases": {"telegram:700100201": "tobias"}}',
            CONFIG,
            "telegram:700100201 (Tobias): now mira, then tobias",
            id="edited",
        ),
    ],
)
async def test_an_answer_changes_these_bytes(
    lived_in: Home,
    operator: Operator,
    honcho: str,
    config: str,
    script: Script,
    then_honcho: str,
    then_config: str,
    said: str,
) -> None:
    (lived_in.path / "honcho.json").write_text(honcho)
    lived_in.config.write_text(config)
    await operator.run("memory", "setup")
    await operator.goes_through(*BEFORE, ("Your name? Enter means mira.", ""), *script)
    if (then_honcho, then_config) != (honcho, config):
        await operator.answers("Save this?", "")
    await operator.ends()
    assert contents(lived_in.path) == {
        ".env": ENV,
        "config.yaml": then_config,
        "honcho.json": then_honcho,
    }
    assert said in operator.raw
    assert "\x1b" not in operator.raw


@pytest.mark.parametrize("answer", ["y", "n"])
async def test_who_is_who_stands_in_the_history_and_can_be_taken_back(
    lived_in: Home, operator: Operator, answer: str
) -> None:
    (lived_in.path / "honcho.json").write_text('{"peerName": "mira"}')
    store = SqliteStore(lived_in.database)
    talk = await Talk(store).open()
    await talk.say("One", "two", answer="Three.", where=ME)
    await store.close()
    await operator.run("memory", "setup")
    await operator.goes_through(
        *BEFORE,
        ("Your name?", ""),
        *MINE,
        ("Remembered under the old name: 3 messages in 1 session of those who move.", answer),
        ("Save this?", ""),
    )
    said = await operator.ends()
    assert "hermes-gateway aliases undo 1 takes back who is who." in said
    assert ("hermes-gateway people rehome lets memory follow" in said) is (answer == "n")
    assert ("Memory follows as job 1" in said) is (answer == "y")
    await operator.run("aliases", "history")
    await operator.ends()
    told = operator.result.getvalue()
    assert "by setup" in told
    assert f'userPeerAliases["telegram:{ME}"]: — → "mira"' in told
    await operator.run("aliases", "undo", "1", "--yes")
    await operator.ends()
    assert f"telegram:{ME}" not in contents(lived_in.path)["honcho.json"]


async def test_a_name_is_asked_for_where_a_pin_needs_one(
    lived_in: Home, operator: Operator
) -> None:
    answers = lived_in.user / "answers.yaml"
    answers.write_text("who: {answer: just-me}\n")
    await operator.run("memory", "setup", "--answers", str(answers))
    assert "name: is missing; write an answer" in await operator.ends(2)
    assert contents(lived_in.path) == {".env": ENV, "config.yaml": CONFIG}


async def test_nobody_is_asked_about_people_without_a_platform(
    home: Home, operator: Operator
) -> None:
    await operator.run("memory", "setup")
    await operator.goes_through(*BEFORE, ("Your name?", ""), ("Save this?", "n"))
    assert "Nothing was saved." in await operator.ends()
    assert "Who talks" not in operator.raw
    assert not home.path.exists()


@pytest.mark.parametrize("typed", ["\x04", "Ada\n\x04", "Ada\n2\n\x04"])
async def test_going_away_saves_nothing(lived_in: Home, operator: Operator, typed: str) -> None:
    await operator.run("setup")
    await operator.hears("Your name?", end="> ")
    for line in typed.splitlines(keepends=True):
        operator.person.type(line)
        await asyncio.sleep(0.05)
    await operator.leaves()
    assert "Stopped. Nothing was saved." in await operator.ends(1)
    assert contents(lived_in.path) == {".env": ENV, "config.yaml": CONFIG}


async def test_a_change_meanwhile_is_not_lost(lived_in: Home, operator: Operator) -> None:
    (lived_in.path / "honcho.json").write_text('{"peerName": "mira"}')
    await operator.run("memory", "setup")
    await operator.goes_through(*BEFORE, ("Your name?", "ada"), ("Who talks", "s"))
    await operator.hears("Save this?", end="> ")
    (lived_in.path / "honcho.json").write_text('{"peerName": "tobias"}')
    operator.person.type("y\n")
    assert "changed while the questions were asked; nothing was saved" in await operator.ends(1)
    assert contents(lived_in.path)["honcho.json"] == '{"peerName": "tobias"}'
