"""``audit list`` and ``audit verify``: on a home whose gateway does not run."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from gateway.settings.home import Home
from gateway.store import audit, migrate
from gateway.store.sqlite import SqliteStore
from tests.contract.store.samples import NOW, later
from tests.integration.cli.calls import run

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.store.engine import Tx

MIRA = "telegram:700100200"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    place = Home(tmp_path / "hermes", tmp_path / "user")
    place.gateway.mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("HERMES_HOME", str(place.path))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    asyncio.run(_fill(place))
    return place


async def _fill(place: Home) -> None:
    store = SqliteStore(place.database)
    migrate.upgrade(store.engine)
    await store.write(_rows)
    await store.close()


def _rows(tx: Tx) -> None:
    audit.record(tx, "pairing.approved", actor="command line", subject=MIRA, now=NOW, admin=True)
    audit.record(tx, "alias.set", actor=MIRA, subject="discord:99", now=later(60), peer="mira")
    audit.record(
        tx, "settings.changed", actor="file", subject="settings", now=later(120), keys=["a", "b"]
    )


def _seqs(*words: str) -> list[int]:
    return [row["seq"] for row in json.loads(run("audit", "list", *words, "--json"))]


def test_rows_are_listed_with_people_by_their_names(home: Home) -> None:
    told = run("audit", "list")
    assert f"command line: pairing.approved {MIRA} (admin True)" in told
    assert f"{MIRA}: alias.set discord:99 (peer mira)" in told
    assert "file: settings.changed settings (keys a, b)" in told


@pytest.mark.parametrize(
    ("words", "seqs"),
    [
        ([], [3, 2, 1]),
        (["--limit", "1"], [3]),
        (["--person", MIRA], [2, 1]),
        (["--person", "mira"], [2]),
        (["--person", "nobody"], []),
        (["--action", "pairing"], [1]),
        (["--since", "2026-11-29T12:01"], [3, 2]),
        (["--until", "2026-11-29T12:01:00+00:00"], [1]),
        (["--since", "2w"], None),
        (["--since", "tomorrow"], None),
        (["--since", "99999999999d"], None),
        (["--since", "9999-12-31T23:59-23:00"], None),
    ],
)
def test_rows_are_chosen(home: Home, words: list[str], seqs: list[int] | None) -> None:
    if seqs is None:
        assert "write a time such as" in run("audit", "list", *words, code=2)
    else:
        assert _seqs(*words) == seqs


def test_a_person_is_all_their_accounts(home: Home) -> None:
    aliases = {MIRA: "mira", "discord:99": "mira"}
    (home.path / "honcho.json").write_text(json.dumps({"userPeerAliases": aliases}))
    with closing(sqlite3.connect(home.database)) as conn:
        for platform, _, user in (one.partition(":") for one in aliases):
            conn.execute(
                "INSERT INTO person (platform, scope, user_id, kind, name, alternatives,"
                " first_seen, last_seen) VALUES (?, '', ?, 'person', '', '[]',"
                " '2026-11-29 12:00:00', '2026-11-29 12:00:00')",
                (platform, user),
            )
        conn.commit()
    for name in ("mira", MIRA, "discord:99"):
        assert _seqs("--person", name) == [2, 1]


def test_the_erased_have_no_name(home: Home) -> None:
    with closing(sqlite3.connect(home.database)) as conn:
        conn.execute("DELETE FROM audit_key WHERE person = ?", (MIRA,))
        conn.commit()
    told = run("audit", "list")
    assert MIRA not in told
    assert "pairing.approved somebody erased (" in told
    assert "The audit is whole: 3 rows" in run("audit", "verify")


def test_a_sound_chain_shows_its_head_and_knows_what_was_noted(home: Home) -> None:
    found: dict[str, Any] = json.loads(run("audit", "verify", "--json"))
    assert (found["ok"], found["rows"], found["last"]) == (True, 3, 3)
    assert found["head"] in run("audit", "verify", "--head", found["head"])
    assert "is not in the chain" in run("audit", "verify", "--head", "f" * 64, code=1)
    assert "a hash has 64 digits" in run("audit", "verify", "--head", "zz", code=2)


def test_a_changed_row_is_named_and_is_an_alarm_everywhere(home: Home) -> None:
    with closing(sqlite3.connect(home.database)) as conn:
        conn.execute("DROP TRIGGER audit_unchanged")
        conn.execute("UPDATE audit SET actor = 'nobody' WHERE seq = 2")
        conn.commit()
    assert "row 2 does not follow" in run("audit", "verify", code=1)
    assert json.loads(run("audit", "verify", "--json", code=1))["row"] == 2
    assert "✗ audit" in run("doctor", code=1)
    with closing(sqlite3.connect(home.database)) as conn:
        conn.execute("UPDATE audit_head SET seq = 9")
        conn.commit()
    assert "ALARM: the chain does not end with its last row, 3" in run("status")
