"""Hermes Agent's conversations in our search: each once, as its own person's."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from gateway.cli.main import cli
from gateway.model.errors import StoreError
from gateway.model.ids import PeerId
from gateway.ops import importing
from gateway.settings.home import Home
from gateway.store import imports, migrate, search
from gateway.store.search import Scope
from gateway.store.sqlite import SqliteStore
from tests.fakes.hermes import HermesHome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MIRA, TOBIAS = "700100200", "700100201"
DM = "agent:main:telegram:dm"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, template: Path) -> Home:
    """A home whose owner is Mira, on the console and on Telegram."""
    place = Home(tmp_path / "hermes", tmp_path / "user")
    place.gateway.mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("HERMES_HOME", str(place.path))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    aliases = {f"telegram:{MIRA}": "mira"}
    honcho = {"peerName": "mira", "userPeerAliases": aliases}
    (place.path / "honcho.json").write_text(json.dumps(honcho))
    shutil.copy(template, place.database)
    return place


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database, made once."""
    path = tmp_path_factory.mktemp("database") / "gateway.db"
    store = SqliteStore(path)
    migrate.upgrade(store.engine)
    asyncio.run(store.close())
    return path


@pytest.fixture
def hermes(home: Home) -> HermesHome:
    """Conversations of the owner, of somebody else, and of nobody."""
    old = HermesHome(home.path)
    old.session("c1", title="Garden", ended_at=1_772_360_000.0)
    old.say("c1", "The otter is back in the pond", "It ate a fish")
    old.say("c1", "Lovely, an otter!", role="assistant")
    old.say("c1", "{}", role="tool")
    old.session("t1", "telegram", user_id=MIRA, session_key=f"{DM}:{MIRA}")
    old.say("t1", "My otter diary")
    old.session("t2", "telegram", user_id=TOBIAS, session_key=f"{DM}:{TOBIAS}")
    old.say("t2", "An otter of mine, 天气很好")
    old.session("g1", "telegram", user_id=MIRA, session_key="agent:main:telegram:group:-9")
    old.say("g1", "[Tobias] an otter for all")
    anonymous = "1087968824"  # of any admin of a group
    key = f"agent:main:telegram:group:-9:{anonymous}"
    old.session("a1", "telegram", user_id=anonymous, session_key=key)
    old.say("a1", "An otter of the admins")
    old.session("s1", parent_session_id="c1")
    old.say("s1", "count the otters")
    return old


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(cli, list(words))
    assert result.exit_code == code, result.output
    return result.stdout


def imported(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("import", "hermes", *words, "--json"))
    return found


def found(words: str, *options: str) -> list[dict[str, Any]]:
    every: list[dict[str, Any]] = json.loads(run("search", words, *options, "--json"))
    return every


def test_each_conversation_is_found_by_its_person_alone(home: Home, hermes: HermesHome) -> None:
    result = imported()
    assert (result["messages"], result["people"]) == (5, {"mira": 4, TOBIAS: 1})
    assert result["left_out"] == {
        "no person": {"sessions": 1, "messages": 1},
        "shared by several people": {"sessions": 1, "messages": 1},
        "sub-agent": {"sessions": 1, "messages": 1},
    }
    mine = found("otter", "--person", "mira")
    assert {one["snippet"] for one in mine} == {
        "The otter is back in the pond",
        "Lovely, an otter!",
        "My otter diary",
    }
    [other] = found("otter", "--person", TOBIAS)
    assert other["snippet"] == "An otter of mine, 天气很好"
    assert found("天气", "--person", TOBIAS)
    assert len(found("otter")) == 4


def test_titles_and_times_are_kept_and_sessions_can_be_read(
    home: Home, hermes: HermesHome
) -> None:
    imported()

    async def look() -> tuple[list[search.Overview], list[search.Line]]:
        store = SqliteStore(home.database)
        scope = Scope(peer=PeerId("mira"))
        listed = await store.read(lambda conn: search.browse(conn, scope, limit=10))
        [garden] = [one for one in listed if one.title == "Garden"]
        lines = await store.read(lambda conn: search.read(conn, scope, garden.session, limit=10))
        await store.close()
        return listed, lines

    listed, lines = asyncio.run(look())
    assert len(listed) == 2
    assert [(line.role, line.author, line.text) for line in lines] == [
        ("user", "mira", "The otter is back in the pond"),
        ("user", "mira", "It ate a fish"),
        ("assistant", "", "Lovely, an otter!"),
    ]
    assert [line.sent_at.isoformat() for line in lines[:2]] == [
        "2026-03-01T10:00:00+00:00",
        "2026-03-01T10:01:00+00:00",
    ]


def test_a_second_run_adds_nothing_and_a_later_one_what_is_new(
    home: Home, hermes: HermesHome
) -> None:
    first = imported()
    again = imported()
    assert (again["messages"], again["already_known"]) == (0, 6)
    hermes.say("c1", "The heron too")
    later = imported()
    assert (first["messages"], later["messages"], later["people"]) == (5, 1, {"mira": 1})
    assert len(found("otter")) == 4
    assert len(found("heron")) == 1
    assert json.loads(run("search", "--check", "--json"))["missing"] == 0


def test_a_run_that_is_broken_off_goes_on_where_it_was(
    home: Home, hermes: HermesHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    real: Callable[..., int] = imports.store
    calls: list[int] = []

    def breaking(*args: Any, **keys: Any) -> int:
        calls.append(keys["upto"])
        if len(calls) == 3:
            raise StoreError("the disk is full")
        return real(*args, **keys)

    hermes.say("c1", *(f"line {number} of the otter tale" for number in range(7)))
    with monkeypatch.context() as patch:
        patch.setattr(imports, "store", breaking)
        run("import", "hermes", code=1)
    imported()
    told = [one["snippet"] for one in found("tale", "--limit", "50")]
    assert sorted(told) == [f"line {number} of the otter tale" for number in range(7)]
    assert len(found("otter", "--limit", "50")) == 11


def test_nothing_is_sent_to_memory_or_becomes_history(home: Home, hermes: HermesHome) -> None:
    imported()
    with closing(sqlite3.connect(home.database)) as conn:
        assert conn.execute("SELECT count(*) FROM ledger").fetchone() == (0,)
        open_ = "SELECT count(*) FROM session WHERE closed_at IS NULL"
        assert conn.execute(open_).fetchone() == (0,)
        assert conn.execute("SELECT count(*) FROM item").fetchone() == (0,)


@pytest.mark.parametrize("left_behind", ["nothing", "its log", "a running process"])
def test_its_folder_stays_as_it_is(home: Home, hermes: HermesHome, left_behind: str) -> None:
    writer = sqlite3.connect(hermes.path)
    if left_behind != "nothing":
        writer.execute("INSERT INTO state_meta VALUES ('a', 'b')")
        writer.commit()
    if left_behind == "its log":  # as after a crash: a log without the index of it
        log = hermes.path.with_name("state.db-wal")
        kept = log.read_bytes()
        writer.close()
        log.write_bytes(kept)
    before = _contents(home.path)
    assert imported("--dry-run")["messages"] == 5
    assert imported()["messages"] == 5
    assert _contents(home.path) == before
    writer.close()


def _contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    shared = "state.db-shm"  # readers note in it where they are, beside a running process
    return {
        path.name: (path.read_bytes(), os.stat(path).st_mtime_ns)
        for path in folder.iterdir()
        if path.name.startswith("state.db") and path.name != shared
    }


def test_a_dry_run_says_what_would_be_done_and_does_nothing(
    home: Home, hermes: HermesHome
) -> None:
    said = run("import", "hermes", "--dry-run")
    assert "Would be taken over into search: 5 messages of 3 conversations." in said
    assert "shared by several people, so nobody can tell who said what" in said
    assert found("otter") == []


def test_an_old_home_can_be_named_and_a_new_one_gets_its_database(
    home: Home, tmp_path: Path
) -> None:
    old = HermesHome(tmp_path / "old")
    old.session("c1")
    old.say("c1", "The otter is back")
    home.database.unlink()
    assert imported(str(tmp_path / "old"), "--dry-run")["messages"] == 1
    assert not home.database.exists()
    assert imported(str(old.path))["messages"] == 1
    assert [one["snippet"] for one in found("otter")] == ["The otter is back"]


@pytest.mark.parametrize(("content", "code"), [(None, 2), (b"no database at all, no", 1)])
def test_what_is_no_such_database_is_said(
    home: Home, tmp_path: Path, content: bytes | None, code: int
) -> None:
    path = tmp_path / "state.db"
    if content is not None:
        path.write_bytes(content)
    result = CliRunner().invoke(cli, ["import", "hermes", str(path)])
    assert result.exit_code == code
    assert str(path) in result.output
    assert "Traceback" not in result.output


def test_doctor_offers_it_and_names_equivalents(home: Home, hermes: HermesHome) -> None:
    (home.path / "config.yaml").write_text("stt: {provider: local}\nterminal: {backend: local}\n")
    paired = home.path / "platforms" / "pairing"
    paired.mkdir(parents=True)
    (paired / "telegram-approved.json").write_text(json.dumps({TOBIAS: {"user_name": "T"}}))
    (home.path / "skills").mkdir()
    said = run("doctor", code=0)
    assert "5 messages of Hermes Agent are not in search: hermes-gateway import hermes" in said
    assert "stt: not used by this product; nearest: voice.transcribe" in said
    assert "terminal: not used by this product\n" in said
    assert f"access.allow.telegram: {TOBIAS}" in said
    assert "skills: not used by this product" in said
    imported()
    assert "are not in search" not in run("doctor")
