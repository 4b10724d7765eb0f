"""``aliases``, ``people`` and ``memory replay`` of a home whose gateway does not run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from gateway.model.ids import PeerId
from gateway.model.turn import TurnState
from gateway.settings.home import Home
from gateway.store import ledger, messages, migrate, people, sending, turns
from gateway.store.people import Account
from gateway.store.sqlite import SqliteStore
from tests.contract.store import samples
from tests.integration.cli import calls
from tests.integration.cli.calls import data

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.store.engine import Tx

KEY = "telegram:700100200"


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home in which nothing has happened."""
    place = Home(tmp_path / "hermes", tmp_path / "user")
    place.path.mkdir(mode=0o700)
    monkeypatch.setenv("HERMES_HOME", str(place.path))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("LOGNAME", "ana")
    return place


@pytest.fixture
def home(empty: Home) -> Home:
    """A home in which Mira said something."""
    empty.gateway.mkdir(mode=0o700)
    store = SqliteStore(empty.database)
    migrate.upgrade(store.engine)

    def fill(tx: Tx) -> None:
        mira = Account("telegram", "", "700100200")
        people.seen(tx, mira, name="Mira", language="ru", now=samples.NOW)
        _said(tx)

    async def write() -> None:
        await store.write(fill)
        await store.close()

    asyncio.run(write())
    return empty


def _said(tx: Tx) -> None:
    """One message of Mira's under her own id, and its answer, both saved."""
    samples.open_session(tx, peer="700100200")
    turns.create(tx, samples.turn(peer=PeerId("700100200")), now=samples.NOW)
    samples.take_to(tx, (TurnState.RUNNING, TurnState.ANSWERED, TurnState.SETTLED))
    for role, peer in ((messages.USER, "700100200"), (messages.ASSISTANT, "hermes")):
        here = samples.SESSION
        number = samples.say(tx, role, role=role, turn=samples.TURN, session=here)
        entry = ledger.Entry(here, PeerId(peer), number)
        ledger.add(tx, entry, ledger.LedgerState.DUE, now=samples.NOW)
    rows = sending.open_rows(tx.conn, samples.SESSION, limit=9)
    sending.settle(tx, samples.SESSION, rows, ledger.LedgerState.SAVED)


def test_a_home_in_which_nothing_happened_can_be_prepared(empty: Home) -> None:
    assert "every account is a person of its own" in calls.run("aliases", "list")
    assert not empty.gateway.exists()
    said = calls.run("aliases", "set", KEY, "mira", "--reason", "she told me")
    assert f"awaited {KEY}: has not written yet" in said
    assert data("aliases", "list")[0]["target"] == "mira"
    (record,) = data("aliases", "history")
    assert (record["actor"], record["reason"]) == ("command line (ana)", "she told me")
    assert "she told me" in calls.run("aliases", "history")


@pytest.mark.usefixtures("home")
def test_see_set_undo() -> None:
    assert data("aliases", "preview", KEY, "mira")["moves"][0]["after"] == "mira"
    assert "moves   telegram:700100200 (Mira): 700100200 → mira" in calls.run(
        "aliases", "preview", KEY, "mira"
    )
    assert data("aliases", "list") == []
    assert data("aliases", "set", KEY, "mira")["id"] == 1
    shown = calls.run("people", "show", "mira")
    assert "userPeerAliases" in shown
    assert "honcho.json:" in shown
    assert data("people", "list", "Mir")[0]["names"] == ["Mira"]
    assert data("aliases", "undo", "1")["id"] == 2
    assert data("people", "show", "700100200")["language"] == "ru"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("aliases", "set", "telegram:@mira", "mira"), 2, "names are no ids"),
        (("aliases", "set", "mira_k", "mira"), 2, "names are no ids"),
        (("aliases", "set", KEY, "hermes"), 2, "one name in the memory service"),
        (("aliases", "remove", KEY), 2, "has no alias"),
        (("aliases", "undo", "7"), 2, "no change 7"),
        (("people", "show", "nobody"), 1, "no person nobody"),
        (("people", "merge", "nobody", "mira"), 2, "no person nobody"),
        (("people", "split", KEY), 2, "--to NAME"),
        (("people", "split", "everyone"), 2, "memory of their own"),
        (("memory", "replay", "nobody"), 2, "has not said anything"),
    ],
)
def test_wrong_use_teaches(words: tuple[str, ...], code: int, told: str) -> None:
    assert told in calls.run(*words, code=code)


@pytest.mark.usefixtures("home")
def test_memory_is_offered_and_waits_for_the_gateway() -> None:
    said = calls.run("aliases", "set", KEY, "mira", "--no-rehome")
    assert "2 messages in 1 session of theirs can follow" in said
    assert "hermes-gateway people rehome" in said
    seen = data("people", "rehome", "--preview")
    assert (seen["estimate"]["sessions"], seen["moves"]) == (1, [["700100200", "mira"]])
    job = data("people", "rehome")
    assert (job["state"], job["running"], job["sessions_total"]) == ("waiting", False, 1)
    assert "job 1 follow: waiting" in calls.run("people", "rehome", "--status")
    assert "nothing to do" in calls.run("people", "rehome", "--purge")


@pytest.mark.usefixtures("home")
def test_a_change_may_take_memory_along_at_once() -> None:
    calls.run("people", "split", KEY, "--to", "mira", "--rehome")
    (job,) = data("people", "rehome", "--status")
    assert job["people"] == ["700100200", "mira"]
    replay = data("memory", "replay")
    assert (replay["kind"], replay["messages_total"]) == ("replay", 2)
