"""Files of turns, on both dialects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.model.events import AttachmentKind
from gateway.model.files import FileProblem
from gateway.store import files, messages
from gateway.store.files import FileState, StoredFile
from tests.contract.store.samples import NOW, TURN, claim, later, say, turn

if TYPE_CHECKING:
    from gateway.store.engine import Store, Tx

LARGE = 5 << 30


def planned(message: int, ordinal: int, name: str) -> StoredFile:
    return StoredFile(
        id=0,
        message_id=message,
        ordinal=ordinal,
        kind=AttachmentKind.DOCUMENT,
        label="план.txt",
        mime="text/plain",
        size=LARGE,
        name=name,
        state=FileState.WAITING,
        problem=None,
    )


def begin(tx: Tx) -> int:
    """Make a turn with one message and two files."""
    claim(tx, turn())
    message = say(tx, "look", turn=TURN)
    for ordinal, name in ((1, "b"), (0, "a")):
        files.plan(tx, TURN, planned(message, ordinal, name), now=later(ordinal))
    return message


async def test_files_come_back_in_the_order_of_their_message(store: Store) -> None:
    message = await store.write(begin)
    found = await store.read(lambda conn: files.of_turn(conn, TURN))
    assert [replace(one, id=0) for one in found] == [
        planned(message, 0, "a"),
        planned(message, 1, "b"),
    ]


async def test_a_second_plan_keeps_the_first_name(store: Store) -> None:
    """A run after a crash plans again; what was fetched lies under the first name."""
    message = await store.write(begin)
    again = planned(message, 0, "other")
    await store.write(lambda tx: files.plan(tx, TURN, again, now=NOW))
    found = await store.read(lambda conn: files.of_turn(conn, TURN))
    assert [one.name for one in found] == ["a", "b"]


async def test_what_became_of_a_file_is_kept(store: Store) -> None:
    await store.write(begin)
    first, second = await store.read(lambda conn: files.of_turn(conn, TURN))

    def settle(tx: Tx) -> None:
        files.settle(tx, first.id, None, mime="image/png", size=7)
        files.settle(tx, second.id, FileProblem.GONE, mime="", size=None)

    await store.write(settle)
    assert await store.read(lambda conn: files.of_turn(conn, TURN)) == [
        replace(first, state=FileState.READY, mime="image/png", size=7),
        replace(second, state=FileState.FAILED, mime="", size=None, problem=FileProblem.GONE),
    ]


async def test_old_files_are_found_until_they_are_dropped(store: Store) -> None:
    await store.write(begin)
    first, _ = await store.read(lambda conn: files.of_turn(conn, TURN))

    async def old(seconds: float) -> list[tuple[int, str]]:
        before = later(seconds)
        return await store.read(lambda conn: files.outdated(conn, before=before, limit=9))

    assert await old(0) == []
    assert await old(0.5) == [(first.id, "a")]
    assert [name for _, name in await old(2)] == ["b", "a"]
    await store.write(lambda tx: files.drop(tx, [first.id]))
    assert [name for _, name in await old(2)] == ["b"]


async def test_spoken_words_join_what_was_typed(store: Store) -> None:
    def fn(tx: Tx) -> list[str]:
        empty, typed = say(tx, ""), say(tx, "read this")
        for message in (empty, typed):
            messages.append_line(tx, message, "spoken")
        rows = tx.conn.exec_driver_sql("SELECT text FROM message ORDER BY id")
        return list(rows.scalars())

    assert await store.write(fn) == ["spoken", "read this\nspoken"]
