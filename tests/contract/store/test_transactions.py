"""A transaction is whole or nothing, tells when it is committed, and hides what was written."""

from __future__ import annotations

import asyncio
import threading
import traceback
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from gateway.model.errors import ConfigurationError, StoreBusyError, StoreError
from gateway.store import facts, messages
from gateway.store.engine import PostgresStore
from gateway.store.tables import fact, message
from tests.contract.store.samples import NOW, later, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.store.engine import Store, Tx


async def _names(store: Store) -> list[str]:
    return list(await store.read(lambda conn: facts.starting_with(conn, "")))


def _put(name: str, error: Exception | None = None) -> Callable[[Tx], str]:
    def fn(tx: Tx) -> str:
        facts.put(tx, name, name, now=NOW)
        if error is not None:
            raise error
        return name

    return fn


async def test_a_result_comes_after_the_commit_and_after_its_callbacks(store: Store) -> None:
    order: list[str] = []

    def fn(tx: Tx) -> str:
        tx.on_commit(lambda: order.append("first"))
        tx.on_commit(lambda: order.append(threading.current_thread().name))
        facts.put(tx, "a", "1", now=NOW)
        return "result"

    order.append(await store.write(fn))
    assert order == ["first", threading.main_thread().name, "result"]
    assert await _names(store) == ["a"]


async def test_an_exception_undoes_everything_and_calls_nobody(store: Store) -> None:
    called: list[str] = []

    def fn(tx: Tx) -> None:
        tx.on_commit(lambda: called.append("committed"))
        facts.put(tx, "a", "1", now=NOW)
        raise LookupError("as it was raised")

    with pytest.raises(LookupError, match="as it was raised"):
        await store.write(fn)
    await store.write(_put("b"))
    assert (await _names(store), called) == (["b"], [])


@pytest.mark.parametrize("durable", [False, True])
async def test_one_that_fails_does_not_undo_its_neighbours(store: Store, durable: bool) -> None:
    writes = [
        store.write(_put(f"{n:02}", ValueError(str(n)) if n % 3 == 0 else None), durable=durable)
        for n in range(20)
    ]
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert [isinstance(result, ValueError) for result in results] == [
        n % 3 == 0 for n in range(20)
    ]
    assert await _names(store) == [f"{n:02}" for n in range(20) if n % 3]


async def test_a_broken_rule_of_the_database_is_a_store_error(store: Store) -> None:
    def twice(tx: Tx) -> None:
        for _ in range(2):
            tx.conn.execute(sa.insert(fact).values(name="a", value="1", updated_at=NOW))

    with pytest.raises(StoreError, match="the database refused") as caught:
        await store.write(twice)
    assert not isinstance(caught.value, StoreBusyError)
    assert await _names(store) == []


async def test_an_error_tells_nothing_of_what_was_said(store: Store) -> None:
    secret = "my card number is 4242"

    def without_author(tx: Tx) -> None:
        tx.conn.execute(
            sa.insert(message).values(
                role=messages.USER,
                author=sa.null(),
                text=secret,
                sent_at=NOW,
            )
        )

    with pytest.raises(StoreError) as caught:
        await store.write(without_author)
    assert "author" in str(caught.value)
    assert secret not in "".join(traceback.format_exception(caught.value))


def test_an_error_beside_the_store_hides_parameters(store: Store) -> None:
    secret = {"what": "my secret"}
    with store.engine.connect() as conn, pytest.raises(sa.exc.SQLAlchemyError) as caught:
        conn.execute(sa.text("SELECT nonsense(:what)"), secret)
    assert secret["what"] not in str(caught.value)


async def test_a_read_error_tells_nothing_either(store: Store) -> None:
    with pytest.raises(StoreError) as caught:
        await store.read(
            lambda conn: conn.execute(sa.text("SELECT nonsense(:what)"), {"what": "my secret"})
        )
    assert "my secret" not in "".join(traceback.format_exception(caught.value))


async def test_a_write_goes_on_without_its_caller(store: Store) -> None:
    entered, leave, called = threading.Event(), threading.Event(), asyncio.Event()

    def fn(tx: Tx) -> None:
        entered.set()
        leave.wait(5)
        tx.on_commit(called.set)
        facts.put(tx, "a", "1", now=NOW)

    writing = asyncio.create_task(store.write(fn))
    await asyncio.to_thread(entered.wait)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    leave.set()
    await asyncio.wait_for(called.wait(), 5)
    assert await _names(store) == ["a"]


async def test_a_write_that_only_waits_goes_on_too(store: Store) -> None:
    leave = threading.Event()
    ahead = [asyncio.create_task(store.write(lambda _: leave.wait(5))) for _ in range(4)]
    called = asyncio.Event()

    def fn(tx: Tx) -> None:
        tx.on_commit(called.set)
        facts.put(tx, "a", "1", now=NOW)

    writing = asyncio.create_task(store.write(fn))
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.wait([writing])
    leave.set()
    await asyncio.wait_for(called.wait(), 5)
    await asyncio.gather(*ahead)
    assert (writing.cancelled(), await _names(store)) == (True, ["a"])


async def test_a_callback_that_breaks_holds_up_nobody(store: Store) -> None:
    seen: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: seen.append(str(context["exception"]))
    )

    def breaks() -> None:
        raise LookupError("in a callback")

    def fn(tx: Tx) -> str:
        tx.on_commit(breaks)
        tx.on_commit(lambda: seen.append("next"))
        return "result"

    result, neighbour = await asyncio.gather(store.write(fn), store.write(lambda _: "neighbour"))
    assert (result, neighbour) == ("result", "neighbour")
    assert seen == ["in a callback", "next"]


async def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(StoreError, match="the database refused"):
        await store.read(lambda conn: conn.execute(sa.delete(fact)))


async def test_a_reader_sees_one_moment(store: Store) -> None:
    await store.write(_put("a"))
    looked, written = threading.Event(), threading.Event()

    def fn(conn: sa.Connection) -> tuple[list[str], list[str]]:
        first = list(facts.starting_with(conn, ""))
        looked.set()
        written.wait(5)
        return first, list(facts.starting_with(conn, ""))

    reading = asyncio.create_task(store.read(fn))
    await asyncio.to_thread(looked.wait)
    await store.write(_put("b"))
    written.set()
    assert await reading == (["a"], ["a"])
    assert await _names(store) == ["a", "b"]


async def test_a_closed_store_says_so(store: Store) -> None:
    await store.close()
    with pytest.raises(StoreError, match="the database is closed"):
        await store.write(_put("a"))
    with pytest.raises(StoreError, match="the database is closed"):
        await store.read(lambda conn: facts.get(conn, "a"))
    await store.close()


async def test_closing_finishes_what_was_handed_in(store: Store) -> None:
    url = store.engine.url
    writes = [asyncio.create_task(store.write(_put(f"{n:03}"))) for n in range(50)]
    await asyncio.sleep(0)
    await store.close()
    assert await asyncio.gather(*writes) == [f"{n:03}" for n in range(50)]
    engine = sa.create_engine(url)
    with engine.connect() as conn:
        assert len(facts.starting_with(conn, "")) == 50
    engine.dispose()


async def test_a_number_beyond_all_rows_is_a_store_error(store: Store) -> None:
    ask = sa.select(message.c.id).where(message.c.id == 10**30)
    with pytest.raises(StoreError, match=r"the database refused: .*out of range"):
        await store.read(lambda conn: conn.execute(ask).all())
    with pytest.raises(StoreError, match=r"the database refused: .*out of range"):
        await store.write(lambda tx: tx.conn.execute(ask).all())


async def test_a_naive_time_is_refused(store: Store) -> None:
    naive = datetime(2026, 11, 29, 12, 0)  # noqa: DTZ001 - that is the point
    with pytest.raises(StoreError, match="a stored time needs its zone"):
        await store.write(lambda tx: facts.put(tx, "a", "1", now=naive))
    assert await _names(store) == []


async def test_half_an_emoji_costs_its_own_write_only(store: Store) -> None:
    """H-51: cleaned at intake; should one slip through, its neighbours are saved."""
    texts = ("before", "ok \ud83d", "after")
    writes = [store.write(partial(say, text=text)) for text in texts]
    before, broken, after = await asyncio.gather(*writes, return_exceptions=True)
    assert isinstance(broken, UnicodeEncodeError)
    assert (type(before), type(after)) == (int, int)
    saved = await store.read(lambda conn: conn.execute(sa.select(message.c.text)).scalars().all())
    assert sorted(saved) == ["after", "before"]


async def test_times_come_back_in_utc(store: Store) -> None:
    await store.write(_put("a"))
    ((_, at),) = (await store.read(lambda conn: facts.starting_with(conn, "a"))).values()
    assert (at, at.utcoffset()) == (NOW, NOW.utcoffset())


@pytest.mark.postgres
async def test_a_lock_is_waited_for_and_then_reported(postgres_url: str) -> None:
    patient = PostgresStore(postgres_url, busy_timeout=10)
    hasty = PostgresStore(postgres_url, busy_timeout=0.1)
    await patient.write(_put("a"))
    with patient.engine.connect() as holder, holder.begin():
        holder.execute(sa.update(fact).values(value="held"))
        with pytest.raises(StoreBusyError):
            await hasty.write(_put("a"))
        waiting = asyncio.create_task(patient.write(_put("a")))
        assert not (await asyncio.wait([waiting], timeout=0.1))[0]
    assert await waiting == "a"
    assert await hasty.write(_put("b")) == "b"
    await asyncio.gather(patient.close(), hasty.close())


@pytest.mark.postgres
async def test_a_deadlock_is_no_reason_to_give_up(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    await asyncio.gather(store.write(_put("x")), store.write(_put("y")))
    meet = threading.Barrier(2)

    def crossing(first: str, second: str) -> Callable[[Tx], None]:
        def fn(tx: Tx) -> None:
            facts.put(tx, first, "1", now=NOW)
            meet.wait(5)
            facts.put(tx, second, "1", now=later(1))

        return fn

    crossings = (store.write(crossing("x", "y")), store.write(crossing("y", "x")))
    results = await asyncio.gather(*crossings, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["NoneType", "StoreBusyError"]
    await store.close()


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("", "not a database address"),
        ("postgresql://ada:s3cret@host:port/db", "not a database address"),
        ("mysql://ada:s3cret@host/db", "mysql is not supported; use postgresql://"),
    ],
)
def test_a_wrong_address_names_the_setting_and_no_password(url: str, fault: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"store\.url: {fault}") as caught:
        PostgresStore(url)
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "url", ["postgres://h/db", "postgresql://h/db", "postgresql+asyncpg://h/db"]
)
def test_every_spelling_means_the_one_driver(url: str) -> None:
    assert PostgresStore(url).engine.url.drivername == "postgresql+psycopg"


async def test_a_server_that_is_not_there_is_a_store_error() -> None:
    store = PostgresStore("postgresql://ada:s3cret@127.0.0.1:1/db")
    with pytest.raises(StoreError, match="the database refused: connection") as caught:
        await store.read(lambda conn: facts.get(conn, "a"))
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))
    await store.close()
