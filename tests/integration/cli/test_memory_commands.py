"""``memory`` and ``sessions``: what operators see of a home whose gateway does not run."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from gateway.mailbox.embedded import CONTROL
from gateway.memory.lane import MEMORY
from gateway.memory.watch import SERVICE
from gateway.model.ids import PeerId
from gateway.model.memory import Observation
from gateway.store import facts, ledger, members, migrate, sending
from gateway.store.lock import ProcessLock
from gateway.store.sqlite import SqliteStore
from tests.contract.store import samples
from tests.integration.cli import calls

if TYPE_CHECKING:
    from gateway.settings.home import Home
    from gateway.store.engine import Store, Tx


@pytest.fixture
def store(home: Home) -> Store:
    """Write a session with a saved, a waiting and a parked message, and close the database."""
    store = SqliteStore(home.database)
    migrate.upgrade(store.engine)

    async def write() -> None:
        await store.write(_fill)
        await store.close()

    asyncio.run(write())
    return store


def _fill(tx: Tx) -> None:
    samples.open_session(tx)
    states = (ledger.LedgerState.DUE, ledger.LedgerState.DUE, ledger.LedgerState.DUE)
    for number, state in enumerate(states, 1):
        message = samples.say(tx, f"secret {number}", turn=samples.TURN)
        entry = ledger.Entry(samples.SESSION, PeerId("mira"), message)
        ledger.add(tx, entry, state, now=samples.NOW)
    first, second, _ = sending.open_rows(tx.conn, samples.SESSION, limit=3)
    sending.settle(tx, samples.SESSION, [first], ledger.LedgerState.SAVED)
    sending.settle(tx, samples.SESSION, [second], ledger.LedgerState.PARKED, reason="refused")
    flags = {PeerId("mira"): Observation(True, False)}
    members.note(tx, samples.SESSION, flags, now=samples.NOW)
    told = json.dumps({"paused": True, "code": "memory_credentials"})
    facts.put(tx, SERVICE, told, now=samples.NOW)


def run(*words: str, code: int = 0) -> str:
    """Run a command; no text of a message may show in what it says."""
    output = calls.run(*words, code=code)
    assert "secret" not in output
    return output


def data(*words: str) -> Any:
    return json.loads(run(*words, "--json"))


@pytest.mark.usefixtures("store")
def test_status() -> None:
    found = data("memory", "status")
    assert found["service"] == "embedded"
    assert found["state"]["code"] == "memory_credentials"
    assert found["messages"] == {"due": 1, "parked": 1, "saved": 1}
    assert "1 parked" in run("memory", "status")


@pytest.mark.usefixtures("home")
def test_status_of_a_home_in_which_nothing_happened() -> None:
    assert data("memory", "status")["messages"] == {}
    assert "run" in run("memory", "queue", code=1)


@pytest.mark.usefixtures("store")
def test_the_queue_shows_what_waits_and_what_was_set_aside() -> None:
    found = data("memory", "queue")
    assert [(row["state"], row["reason"], row["rows"]) for row in found] == [
        ("due", "", 1),
        ("parked", "refused", 1),
    ]
    assert "1 parked refused" in run("memory", "queue")


def test_flush_asks_the_gateway_once_for_each_session(home: Home, store: Store) -> None:
    assert data("memory", "flush") == {"sessions": 1, "running": False}
    assert "next hermes-gateway run" in run("memory", "flush")
    import sqlite3

    with sqlite3.connect(home.database) as conn:
        found = conn.execute("SELECT lane, key FROM item ORDER BY id").fetchall()
    conn.close()
    assert found == [(MEMORY, samples.SESSION), (CONTROL, CONTROL)] * 2


def test_flush_needs_a_service(home: Home, store: Store) -> None:
    home.config.write_text("memory: {provider: honcho}\n")
    assert "HONCHO_API_KEY" in run("memory", "flush", code=2)
    assert data("memory", "status")["service"] == "not set up"


@pytest.mark.usefixtures("store")
def test_sessions() -> None:
    (found,) = data("sessions", "list")
    assert (found["session"], found["conversation"]) == (samples.SESSION, samples.CONVERSATION)
    assert (found["messages"], found["last_saved_index"]) == (3, 2)
    assert "2 of 3 settled" in run("sessions", "list")
    for name in (samples.SESSION, samples.CONVERSATION):
        (shown,) = data("sessions", "show", name)
        assert shown["members"] == {"mira": {"observe_me": True, "observe_others": False}}
    assert "mira: observe_me" in run("sessions", "show", samples.SESSION)


@pytest.mark.usefixtures("store")
def test_the_sessions_and_peers_of_memory() -> None:
    (found,) = data("memory", "sessions")
    assert (found["session"], found["last_saved_index"], found["messages"]) == (
        samples.SESSION,
        2,
        3,
    )
    assert "LASTSAVEDINDEX" in run("memory", "sessions")
    assert "2 of 3" in run("memory", "sessions")
    (peer,) = data("memory", "peers")
    assert (peer["peer"], peer["agent"], peer["messages"], peer["saved"]) == ("mira", False, 3, 1)
    assert "mira" in run("memory", "peers")


@pytest.mark.usefixtures("store")
def test_an_unknown_session_is_said_with_the_way_out() -> None:
    assert "sessions list" in run("sessions", "show", "nowhere", code=1)


@pytest.mark.usefixtures("store")
def test_status_and_doctor_say_that_the_key_is_refused() -> None:
    assert data("status")["memory_service"]["code"] == "memory_credentials"
    lines = [each for each in data("doctor")["findings"] if each["topic"] == "memory"]
    assert "apiKey" in lines[0]["text"]
    assert "1 message set aside" in lines[1]["text"]


def test_a_database_that_is_being_made_is_waited_for(home: Home) -> None:
    home.database.touch(mode=0o600)
    assert "stop the gateway and run" in run("memory", "queue", code=1)
    lock = ProcessLock(home.lock)
    lock.acquire()
    try:
        assert "try again in a moment; else stop" in run("memory", "queue", code=1)
    finally:
        lock.release()
