"""Accounts, grants, pairing requests, and the small tables: facts, names."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.store import facts, names, pairing, people
from gateway.store.pairing import Request
from gateway.store.people import Account
from gateway.store.tables import person
from tests.contract.store.samples import ADDRESS, IDS, NOW, later

if TYPE_CHECKING:
    from gateway.store.engine import Store, Tx

MIRA = Account("telegram", "", "700100200")


def _request(name: str, account: Account = MIRA, *, after: float = 0) -> Request:
    made = later(after)
    return Request(
        name, account, ADDRESS, "ru", f"hash of {name}", made, made + timedelta(hours=1)
    )


async def test_a_rename_changes_nothing_else(store: Store) -> None:
    def fn(tx: Tx) -> None:
        people.seen(tx, MIRA, name="Mira", language="en", now=NOW)
        people.seen(tx, MIRA, name="Мира", language="ru", now=later(1))

    await store.write(fn)
    row = await store.read(lambda conn: conn.execute(sa.select(person)).one())
    assert tuple(row) == (*MIRA, "person", "Мира", "ru", [], NOW, later(1))
    assert await store.read(lambda conn: people.name_of(conn, MIRA)) == "Мира"
    assert await store.read(people.count) == 1


async def test_ids_stay_exact_text(store: Store) -> None:
    """H-02: an id that looks like a number is another person's when a digit changes."""
    accounts = [Account("discord", value, value) for value in IDS]

    def fn(tx: Tx) -> None:
        for account in accounts:
            people.seen(tx, account, name="x", language="", now=NOW)
            people.grant(tx, account, admin=True, by=account.user_id, now=NOW)

    await store.write(fn)
    assert {tuple(row) for row in await store.read(people.grants)} == {
        (*account, True, account.user_id, NOW, "x") for account in accounts
    }


async def test_neighbours_of_an_id_have_no_part_in_its_grant(store: Store) -> None:
    """H-02: what a float or a number would make of a snowflake is somebody else."""
    exact = Account("discord", "", "812345678901234567")
    await store.write(lambda tx: people.grant(tx, exact, admin=True, by="cli", now=NOW))
    for near in ("812345678901234560", "812345678901234568", "8.12345678901234567e17"):
        other = Account("discord", "", near)
        granted = await store.read(partial(people.grant_of, account=other))
        assert granted == (False, False)
    zeros = Account("discord", "", "0812345678901234567")
    assert await store.read(lambda conn: people.grant_of(conn, zeros)) == (False, False)


async def test_grants(store: Store) -> None:
    noor = Account("slack", "T0", "U0")

    def fn(tx: Tx) -> list[bool]:
        people.grant(tx, MIRA, admin=True, by="setup", now=NOW)
        people.grant(tx, MIRA, admin=False, by="pairing", now=later(2))
        people.grant(tx, noor, admin=False, by="cli", now=later(1))
        people.seen(tx, noor, name="Noor", language="", now=NOW)
        unknown = people.revoke(tx, Account("slack", "T1", "U0"))
        return [unknown, people.grant_of(tx.conn, MIRA)[1]]

    assert await store.write(fn) == [False, True]
    assert await store.read(people.grants) == [
        (*noor, False, "cli", later(1), "Noor"),
        (*MIRA, True, "pairing", later(2), None),
    ]
    assert await store.write(lambda tx: people.revoke(tx, MIRA)) is True
    assert await store.read(lambda conn: people.grant_of(conn, MIRA)) == (False, False)
    assert await store.read(lambda conn: people.name_of(conn, MIRA)) == ""


async def test_pairing_requests_wait_until_they_are_concluded_or_late(store: Store) -> None:
    slack = Account("slack", "T0", "U0")

    def fn(tx: Tx) -> None:
        pairing.add(tx, _request("second", after=10))
        pairing.add(tx, _request("first"))
        pairing.add(tx, _request("approved"))
        pairing.conclude(tx, "approved", "approved")

    await store.write(fn)
    waiting = await store.read(lambda conn: pairing.waiting(conn, "telegram", now=later(20)))
    assert waiting == [_request("first"), _request("second", after=10)]
    assert await store.read(lambda conn: pairing.waiting(conn, "slack", now=later(20))) == []
    everywhere = await store.read(lambda conn: pairing.waiting(conn, None, now=later(3600)))
    assert [request.id for request in everywhere] == ["second"]
    assert await store.read(lambda conn: pairing.last_request(conn, MIRA)) == later(10)
    assert await store.read(lambda conn: pairing.last_request(conn, slack)) is None
    assert await store.read(lambda conn: pairing.language_of(conn, "first")) == "ru"
    assert await store.read(lambda conn: pairing.language_of(conn, "none")) == "en"


async def test_facts(store: Store) -> None:
    def fn(tx: Tx) -> None:
        for name in ("adapter:b", "adapter:a", "adapter_c", "Adapter:d", "adapter%e"):
            facts.put(tx, name, "old", now=NOW)
        facts.put(tx, "adapter:a", "новое", now=later(1))

    await store.write(fn)
    assert await store.read(lambda conn: facts.starting_with(conn, "adapter:")) == {
        "adapter:a": ("новое", later(1)),
        "adapter:b": ("old", NOW),
    }
    assert await store.read(lambda conn: list(facts.starting_with(conn, "adapter_"))) == [
        "adapter_c"
    ]
    await store.write(lambda tx: facts.drop(tx, "adapter:a"))
    assert await store.read(lambda conn: facts.get(conn, "adapter:a")) is None
    assert await store.read(lambda conn: facts.get(conn, "adapter:b")) == "old"


async def test_a_fact_may_be_kept_as_it_first_was(store: Store) -> None:
    def fn(tx: Tx) -> None:
        facts.keep(tx, "slack.bare_team", "T0", now=NOW)
        facts.keep(tx, "slack.bare_team", "T1", now=later(1))

    await store.write(fn)
    assert await store.read(lambda conn: facts.starting_with(conn, "slack")) == {
        "slack.bare_team": ("T0", NOW)
    }


async def test_a_name_is_held_by_the_first_who_took_it(store: Store) -> None:
    def fn(tx: Tx) -> None:
        names.take(tx, names.PEER, "mira", "Mira!")
        names.take(tx, names.PEER, "mira", "Mira?")
        names.take(tx, names.SESSION, "mira", "a session")

    await store.write(fn)

    found = await store.read(
        lambda conn: [
            names.owner(conn, kind)(name)
            for kind, name in (
                (names.PEER, "mira"),
                (names.SESSION, "mira"),
                (names.PEER, "noor"),
            )
        ]
    )
    assert found == ["Mira!", "a session", None]
