"""Looking into a home from outside: what is wrong with it, and whom an account stands for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from adapters.console.manifest import MANIFEST as CONSOLE
from adapters.slack.manifest import MANIFEST as SLACK
from adapters.telegram.manifest import MANIFEST as TELEGRAM
from gateway import app
from gateway.model.ids import AccountId
from gateway.ops import doctor, whois
from gateway.ops.doctor import Level
from gateway.store import facts, migrate, names, people
from gateway.store.people import Account
from gateway.store.sqlite import SqliteStore
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.clock import START
from tests.fakes.household import GROUP, MIRA, TOBIAS, Household

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from gateway.policy.identity import Identity
    from gateway.store.engine import Tx


@pytest.fixture
async def household(tmp_path: Path) -> AsyncIterator[Household]:
    async with TelegramEmulator() as tg:
        # A folder's name may hold what an address gives a meaning to.
        yield Household(tmp_path / "a #1? 100%41", tg)


async def _filled(household: Household, *writes: str) -> None:
    """Make the home's database, with two people, and run statements on it."""
    household.home.gateway.mkdir(mode=0o700, exist_ok=True)
    store = SqliteStore(household.home.database)
    await asyncio.to_thread(migrate.upgrade, store.engine)

    def fill(tx: Tx) -> None:
        for user in (MIRA, TOBIAS):
            account = Account("telegram", "", str(user))
            people.seen(tx, account, name="Somebody", language="", now=START)
        for statement in writes:
            tx.conn.exec_driver_sql(statement)

    await store.write(fill)
    await store.close()


def _findings(household: Household) -> list[tuple[Level, str, str]]:
    loaded = app.load(household.home, {})
    found = doctor.database(household.home.database, app.rules_of(loaded))
    return [(each.level, each.topic, each.text) for each in found]


def _troubles(household: Household) -> list[str]:
    return [text for level, _, text in _findings(household) if level is not Level.OK]


async def test_a_sound_home_has_no_trouble(household: Household) -> None:
    await _filled(household)
    assert _troubles(household) == []
    assert (Level.OK, "database", "sound") in _findings(household)


FACT = (
    "INSERT INTO fact (name, value, updated_at) VALUES"
    ' (\'adapter:telegram:1\', \'{"state": "STATE", "detail": ""}\', \'2026-11-29 12:00:00\')'
)
ITEM = (
    "INSERT INTO item (lane, key, dedupe, state, payload, run_at, created_at)"
    " VALUES ('turn', 'k', 'd', 'dead', '{}', '2026-11-29 12:00:00', '2026-11-29 12:00:00')"
)
ERASURE = (
    "INSERT INTO erasure (id, plan, asked_by, started_at) VALUES ('e1', '{\"peers\": [],"
    ' "sessions": [], "observers": [], "files": []}\', \'cli\', \'2026-11-29 12:00:00\')'
)
ASIDE = (
    "INSERT INTO set_aside (platform, account, number, fault, raw, received_at)"
    " VALUES ('telegram', '1', '1', 'odd', x'00', '2026-11-29 12:00:00')"
)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (FACT.replace("STATE", "conflict"), "stop it, or use another bot"),
        (FACT.replace("STATE", "bad_credentials"), "put a valid one into .env"),
        (ITEM, "1 mailbox item given up"),
        (ASIDE, "1 update could not be read"),
        (ERASURE, "waiting for the memory service: 1 erasure;"),
        ("UPDATE alembic_version SET version_num = 'old'", "hermes-gateway db upgrade"),
    ],
)
async def test_trouble_is_said_with_what_to_do(
    household: Household, statement: str, said: str
) -> None:
    await _filled(household, statement)
    [trouble] = _troubles(household)
    assert said in trouble


async def test_a_pin_over_two_people_is_a_warning(household: Household) -> None:
    household.honcho(pinUserPeer=True, peerName="mira")
    await _filled(household)
    [trouble] = _troubles(household)
    assert "pinUserPeer" in trouble


async def test_an_alias_that_is_another_accounts_own_name_is_a_warning(
    household: Household,
) -> None:
    household.honcho(userPeerAliases={str(MIRA): str(TOBIAS)})
    await _filled(household)
    [trouble] = _troubles(household)
    assert str(TOBIAS) in trouble


LINK = (
    "INSERT INTO link (platform, scope, user_id, anchor_platform, anchor_user_id, request, since)"
    f" VALUES ('telegram', '', '{TOBIAS}', 'telegram', '{MIRA}', 'l', '2026-11-29 12:00:00')"
)


async def test_a_link_is_a_record_that_the_file_beats_and_a_conflict_is_said(
    household: Household,
) -> None:
    await _filled(household, LINK)
    assert _whois(household, TOBIAS).peer == str(MIRA)
    assert _whois(household, TOBIAS).source == f"link telegram:{TOBIAS}"
    assert _troubles(household) == []
    question = whois.Question(TELEGRAM, str(TOBIAS), None, AccountId("123456"))
    linked = whois.background(question, _whois(household, TOBIAS), household.home.database)
    assert linked["link"] == {
        "with": f"telegram:{MIRA}",
        "since": "2026-11-29T12:00:00+00:00",
    }
    assert (linked["since"], linked["changed"]) == (None, None)
    household.honcho(userPeerAliases={str(TOBIAS): "toby"})
    assert _whois(household, TOBIAS).peer == "toby"
    assert f'overrules the confirmed link of telegram:{TOBIAS} to "{MIRA}"' in str(
        _whois(household, TOBIAS).steps
    )
    [trouble] = _troubles(household)
    assert f"telegram:{TOBIAS} was linked with telegram:{MIRA} by its person" in trouble


async def test_a_file_that_is_no_database_is_an_error_with_the_remedy(
    household: Household,
) -> None:
    household.home.gateway.mkdir(mode=0o700)
    household.home.database.write_bytes(b"nothing that a database would begin with" * 100)
    [(level, topic, text)] = _findings(household)
    assert (level, topic) == (Level.ERROR, "database")
    assert "put a backup" in text


async def test_files_that_others_can_read_are_named(household: Household) -> None:
    household.home.env.chmod(0o644)
    found = {each.text: each.level for each in doctor.surroundings(household.home)}
    path = household.home.env
    assert found[f"{path} can be read by others: chmod 600 {path}"] is Level.WARNING
    household.home.env.chmod(0o600)
    texts = [each.text for each in doctor.surroundings(household.home)]
    assert ".env is private" in texts
    assert "not running" in texts


# --- whois ----------------------------------------------------------------------------------


def _whois(household: Household, account: object, *, place: object = None) -> Identity:
    loaded = app.load(household.home, {})
    question = whois.Question(
        TELEGRAM, str(account), None if place is None else str(place), AccountId("123456")
    )
    return whois.ask(question, app.rules_of(loaded), household.home.database, stand_in="")


@pytest.mark.parametrize("exists", [False, True])
async def test_whois_answers_as_the_next_turn_would(household: Household, exists: bool) -> None:
    household.honcho(userPeerAliases={f"telegram:{TOBIAS}": "toby"})
    if exists:
        await _filled(household)
    loaded = app.load(household.home, {})
    assert (_whois(household, MIRA).peer, _whois(household, MIRA).rung) == (str(MIRA), "raw")
    toby = _whois(household, TOBIAS, place=GROUP)
    assert (toby.peer, toby.rung) == ("toby", "alias")
    recorded = whois.answer(toby, loaded.sources)["recorded_in"]
    assert recorded == f"{household.home.path / 'honcho.json'}:1"
    assert household.home.database.exists() is exists


@pytest.mark.parametrize(
    ("account", "peer"),
    [("U0MIRA0001", "U0MIRA0001"), ("T2:U0MIRA0001", "slack_T2_U0MIRA0001")],
)
async def test_whois_takes_a_slack_id_without_a_team_for_the_first_teams(
    household: Household, account: str, peer: str
) -> None:
    """H-09."""
    await _filled(household)
    store = SqliteStore(household.home.database)
    await store.write(lambda tx: facts.put(tx, facts.BARE_TEAM, "T1", now=START))
    await store.close()
    rules = app.rules_of(app.load(household.home, {}))
    question = whois.Question(SLACK, account)
    asked = whois.in_home_team(question, rules, household.home.database)
    assert whois.ask(asked, rules, household.home.database, stand_in="").peer == peer


async def test_whois_knows_that_service_accounts_are_nobody(household: Household) -> None:
    nobody = _whois(household, 1087968824, place=GROUP)
    assert nobody.rung == "unattributed"
    assert nobody.peer.startswith("anon-telegram-")


async def test_whois_sees_names_that_others_hold(household: Household) -> None:
    """A generated name that is taken gets a hash, here as in a turn; asking takes nothing."""
    await _filled(household)
    store = SqliteStore(household.home.database)
    await store.write(lambda tx: names.take(tx, names.PEER, str(MIRA), "somebody else's"))
    await store.close()
    peers = {_whois(household, MIRA).peer for _ in range(2)}
    assert len(peers) == 1
    assert peers.pop().startswith(f"{MIRA}-")
    assert household.column("SELECT count(*) FROM taken_name") == [1]


async def test_whois_of_the_console_is_the_peer_name(household: Household) -> None:
    household.honcho(peerName="mira")
    rules = app.rules_of(app.load(household.home, {}))
    question = whois.Question(CONSOLE, "")
    identity = whois.ask(question, rules, household.home.database, stand_in="")
    assert (identity.peer, identity.rung) == ("mira", "peer_name")
