"""The audit: a chain that only grows, whose persons can be forgotten, on both dialects."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from gateway.model.errors import StoreError
from gateway.policy.chain import Point
from gateway.store import audit, migrate
from gateway.store.audit_tables import audit as table
from gateway.store.audit_tables import audit_key
from gateway.store.engine import PostgresStore
from gateway.store.sqlite import SqliteStore
from tests.contract.store.samples import NOW, later

if TYPE_CHECKING:
    from gateway.policy.chain import Row
    from gateway.store.engine import Store, Tx

MIRA = "telegram:700100200"


def _fill(tx: Tx) -> None:
    audit.record(tx, "pairing.approved", actor="cli", subject=MIRA, now=NOW, admin=True)
    audit.record(tx, "delivery.retried", actor=MIRA, subject="part:7", now=later(1))
    audit.record(tx, "alias.set", actor="cli", subject="", now=later(2), account=MIRA, peer="mira")


def _execute(tx: Tx, statement: sa.UpdateBase) -> None:
    tx.conn.execute(statement)


async def _listed(store: Store, **conditions: Any) -> list[Row]:
    return await store.read(
        lambda conn: audit.listed(conn, *audit.matching(conn, **conditions), limit=99)
    )


async def test_a_person_stands_in_it_as_a_keyed_hash(store: Store) -> None:
    await store.write(_fill)
    alias, retried, approved = await _listed(store)
    names = await store.read(audit.people)
    assert names[approved.subject] == names[retried.actor] == MIRA
    assert names[alias.detail["account"]] == MIRA
    assert names[alias.detail["peer"]] == "mira"
    assert retried.subject == "part:7"
    assert approved.actor == "cli"
    assert approved.detail == {"admin": True}
    everything = await store.read(lambda conn: conn.execute(sa.select(table)).all())
    assert "700100200" not in str(everything)
    assert "mira" not in str(everything)


async def test_a_destroyed_key_makes_the_rows_nobodys_and_leaves_the_chain(store: Store) -> None:
    await store.write(_fill)
    assert len(await _listed(store, who=[MIRA])) == 3
    assert await store.write(lambda tx: audit.forget_person(tx, [MIRA])) == 1
    assert await _listed(store, who=[MIRA]) == []
    await store.write(lambda tx: audit.record(tx, "x", actor="cli", subject=MIRA, now=NOW))
    again, *_ = await _listed(store)
    assert [row.seq for row in await _listed(store, who=[MIRA])] == [again.seq]
    verdict = await store.read(audit.check)
    assert (verdict.rows, verdict.problem) == (4, "")


async def test_rows_are_found_by_person_action_and_time(store: Store) -> None:
    await store.write(_fill)

    async def found(**conditions: Any) -> list[int]:
        return [row.seq for row in await _listed(store, **conditions)]

    assert await found(action="pairing") == [1]
    assert await found(action="pairing.approved") == [1]
    assert await found(action="pair") == []
    assert await found(who=["mira"]) == [3]
    assert await found(who=["nobody"]) == []
    assert await found(since=later(1)) == [3, 2]
    assert await found(until=later(1)) == [1]


async def test_a_row_can_be_neither_changed_nor_deleted(store: Store) -> None:
    await store.write(_fill)
    statements: list[sa.UpdateBase] = [
        sa.update(table).values(actor="somebody else"),
        sa.delete(table).where(table.c.seq == 3),
        sa.delete(table),
    ]
    for statement in statements:
        with pytest.raises(StoreError, match="rows of the audit are"):
            await store.write(partial(_execute, statement=statement))
    assert len(await _listed(store)) == 3


async def test_old_rows_are_forgotten_in_batches_and_the_chain_still_holds(store: Store) -> None:
    def fn(tx: Tx) -> list[int]:
        for second in range(4):
            audit.record(tx, f"done.{second}", actor="cli", now=later(second))
        return [audit.forget(tx, before=later(3), limit=2) for _ in range(3)]

    assert await store.write(fn) == [2, 1, 0]
    assert [row.action for row in await _listed(store)] == ["done.3"]
    verdict = await store.read(audit.check)
    assert (verdict.rows, verdict.problem) == (1, "")
    assert await store.write(lambda tx: audit.forget(tx, before=later(99))) == 1
    await store.write(lambda tx: audit.record(tx, "after", actor="cli", now=NOW))
    verdict = await store.read(audit.check)
    assert (verdict.rows, verdict.problem, verdict.last.seq) == (1, "", 5)


async def test_a_broken_chain_names_its_first_bad_row(store: Store) -> None:
    await store.write(_fill)
    sqlite = store.engine.dialect.name == "sqlite"
    with store.engine.begin() as conn:
        if sqlite:
            conn.execute(sa.text("DROP TRIGGER audit_unchanged"))
        else:
            conn.execute(sa.text("ALTER TABLE audit DISABLE TRIGGER audit_guard"))
        conn.execute(sa.update(table).where(table.c.seq == 2).values(actor="cli"))
        if not sqlite:
            conn.execute(sa.text("ALTER TABLE audit ENABLE TRIGGER audit_guard"))
    verdict = await store.read(audit.check)
    assert verdict.seq == 2
    assert "was changed" in verdict.problem


async def test_a_check_may_go_on_from_where_the_last_one_ended(store: Store) -> None:
    await store.write(_fill)
    first = await store.read(audit.check)
    await store.write(_fill)
    second = await store.read(lambda conn: audit.check(conn, first.last))
    assert (second.rows, second.last.seq, second.problem) == (3, 6, "")
    noted = second.last.hash
    assert await store.read(lambda conn: audit.holds(conn, noted))
    assert not await store.read(lambda conn: audit.holds(conn, "f" * 64))
    wrong = await store.read(lambda conn: audit.check(conn, Point(3, "f" * 64)))
    assert wrong.seq == 4


async def test_what_is_rolled_back_leaves_no_gap(store: Store) -> None:
    def fails(tx: Tx) -> None:
        _fill(tx)
        raise ValueError("undo")

    results = await asyncio.gather(
        store.write(_fill), store.write(fails), store.write(_fill), return_exceptions=True
    )
    assert [type(each) for each in results] == [type(None), ValueError, type(None)]
    verdict = await store.read(audit.check)
    assert (verdict.rows, verdict.problem) == (6, "")


async def test_two_that_write_at_once_keep_one_chain(store: Store) -> None:
    """The gateway and a command beside it: each has a store of its own."""
    address = store.engine.url.render_as_string(hide_password=False)
    other = SqliteStore(store.path) if isinstance(store, SqliteStore) else PostgresStore(address)

    async def write(into: Store) -> None:
        for _ in range(20):
            await into.write(
                lambda tx: audit.record(tx, "done", actor="cli", subject=MIRA, now=NOW)
            )

    await asyncio.gather(write(store), write(other), write(other))
    await other.close()
    verdict = await store.read(audit.check)
    assert (verdict.rows, verdict.problem) == (60, "")


async def test_rows_of_an_older_version_become_the_beginning_of_the_chain(store: Store) -> None:
    migrate.downgrade(store.engine, "0006")
    old = sa.text(
        "INSERT INTO audit (at, actor, action, subject, detail)"
        " VALUES ('2026-01-02 03:04:05.000006', :actor, 'pairing.approved', :subject, '{}')"
    )
    with store.engine.begin() as conn:
        conn.execute(old, {"actor": "command line", "subject": MIRA})
        conn.execute(old, {"actor": MIRA, "subject": "part:1"})
    migrate.upgrade(store.engine)
    await store.write(_fill)
    verdict = await store.read(audit.check)
    assert (verdict.rows, verdict.problem) == (5, "")
    rows = await _listed(store, who=[MIRA])
    assert [row.seq for row in rows] == [5, 4, 3, 2, 1]
    kept = await store.read(lambda conn: conn.scalars(sa.select(audit_key.c.person)).all())
    assert sorted(kept) == ["mira", MIRA]
