"""The history of who is who, places of sessions, notes by hand: on both dialects."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from gateway.model.ids import PeerId, SessionId
from gateway.model.turn import TurnState
from gateway.policy.identity_change import PEER_NAME
from gateway.store import (
    hand_notes,
    homes,
    identity_changes,
    ledger,
    messages,
    recall,
    rehome_jobs,
    search,
    talk,
)
from gateway.store.hand_notes import NoteKind
from gateway.store.homes import HomeState
from gateway.store.identity_changes import Author
from gateway.store.ledger import LedgerState
from gateway.store.people import Account
from gateway.store.search import Scope
from gateway.text import terms
from tests.contract.store import samples
from tests.contract.store.samples import NOW, SESSION, TURN, later

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.policy.identity_change import Path, Value
    from gateway.store.engine import Store, Tx

ALIAS: Path = ("userPeerAliases", "telegram:42")
MIRA = Account("telegram", "", "700100200")
COPY = SessionId("copy")
AUTHOR = Author("ana", "because")


async def test_a_history_that_knows_hands_and_undone_changes(store: Store) -> None:
    empty: dict[Path, Value] = {}
    named: dict[Path, Value] = {ALIAS: "mira"}
    both: dict[Path, Value] = {**named, PEER_NAME: "owner"}

    def write(tx: Tx) -> list[int | None]:
        first = identity_changes.notice(tx, empty, AUTHOR, now=NOW)
        made = identity_changes.begin(tx, empty, named, AUTHOR, now=later(1))
        # killed before it was confirmed: the next look knows it again
        same = identity_changes.notice(tx, named, AUTHOR, now=later(2))
        hand = identity_changes.notice(tx, both, Author("file"), now=later(3))
        lost = identity_changes.begin(tx, both, empty, AUTHOR, now=later(4))
        identity_changes.abandon(tx, lost)
        back = identity_changes.begin(tx, both, named, AUTHOR, undoes=hand, now=later(5))
        identity_changes.confirm(tx, back, named, now=later(5))
        return [first, same, made, hand, back]

    first, same, made, hand, back = await store.write(write)
    assert (first, same) == (None, None)
    found = await store.read(identity_changes.listed)
    assert [(one.id, one.actor, one.undoes, one.undone_by) for one in found] == [
        (back, "ana", hand, None),
        (hand, "file", None, back),
        (made, "ana", None, None),
    ]
    assert [(edit.key, edit.before, edit.after) for edit in found[1].edits] == [
        ("peerName", None, "owner")
    ]
    seen = found[2].revision_before
    since = await store.read(lambda conn: identity_changes.since(conn, seen))
    assert [one.id for one in since] == [made, hand, back]
    assert await store.read(lambda conn: identity_changes.since(conn, "never")) == []


def _said(tx: Tx) -> None:
    samples.open_session(tx, peer="700100200")
    samples.claim(tx, samples.turn(peer=PeerId("700100200")))
    samples.take_to(tx, (TurnState.RUNNING, TurnState.ANSWERED))
    for role, peer in ((messages.USER, "700100200"), (messages.ASSISTANT, "hermes")):
        number = samples.say(tx, f"word of {role}", role=role, turn=TURN, session=SESSION)
        entry = ledger.Entry(SESSION, PeerId(peer), number)
        ledger.add(tx, entry, LedgerState.DUE, now=NOW)
    search.feed(tx, TURN)
    copied = {"telegram:700100200": "mira"}
    homes.add(tx, SESSION, SESSION, {}, state=HomeState.ACTIVE, part_limit=9, now=NOW)
    homes.add(tx, SESSION, COPY, copied, state=HomeState.COPYING, part_limit=9, now=NOW)


async def _copy(store: Store) -> homes.Home:
    found = await store.read(lambda conn: homes.of(conn, SESSION))
    return next(one for one in found if one.name == COPY)


async def test_a_session_stands_where_it_was_copied(store: Store) -> None:
    await store.write(_said)
    (source,) = await store.read(homes.sources)
    assert (source.voices, source.messages) == (((MIRA, PeerId("700100200")),), 2)
    copy = await _copy(store)
    rows = await store.read(lambda conn: homes.rows(conn, copy, after=0, limit=9))
    assert [(row.peer, row.role, row.part_limit) for row in rows] == [
        ("mira", "user", 9),
        ("hermes", "assistant", 9),
    ]
    assert await store.read(lambda conn: homes.busy(conn, SESSION))
    await store.write(lambda tx: homes.fly(tx, copy, 2, look_at=NOW + timedelta(seconds=8)))
    assert (await _copy(store)).flight == 2
    await store.write(lambda tx: homes.land(tx, copy, 2))
    assert ((await _copy(store)).copied, (await _copy(store)).flight) == (2, None)
    await store.write(lambda tx: homes.activate(tx, copy))
    states = {one.name: one.state for one in (await store.read(homes.of_all))[SESSION]}
    assert states == {SESSION: "kept", COPY: "active"}
    (counted,) = await store.read(talk.counted)
    assert (counted.account, counted.peer, counted.messages) == (MIRA, "mira", 2)


async def test_search_and_recall_go_by_where_it_stands(store: Store) -> None:
    def found(peer: str) -> Callable[[object], int]:
        query, scope = terms.parse("word"), Scope(peer=PeerId(peer))
        return lambda conn: len(search.find(conn, query, scope, limit=9))  # type: ignore[arg-type]

    await store.write(_said)
    assert await store.read(found("700100200")) == 2
    copy = await _copy(store)
    await store.write(lambda tx: homes.activate(tx, copy))
    assert (await store.read(found("mira")), await store.read(found("700100200"))) == (2, 0)
    mira = PeerId("mira")
    assert await store.read(lambda conn: recall.sessions_of(conn, mira)) == [COPY]
    await store.write(lambda tx: homes.drop(tx, copy))
    assert COPY not in str(await store.read(homes.of_all))


async def test_jobs_and_notes(store: Store) -> None:
    def write(tx: Tx) -> int:
        totals = {"people": ["b", "a"], "groups": True, "totals": (3, 9)}
        job = rehome_jobs.add(tx, rehome_jobs.FOLLOW, AUTHOR, now=NOW, **totals)  # type: ignore[arg-type]
        rehome_jobs.progress(tx, job, sessions=1, messages=2, requests=3, now=later(1))
        for _ in range(2):
            rehome_jobs.note(tx, job, "a line", now=later(2))
        hand_notes.add(
            tx, NoteKind.CONCLUSION, "hermes", "a", holder="a", content="tea", ref="c1", now=NOW
        )
        for facts in (["x"], ["y", "z"]):
            hand_notes.set_facts(tx, "hermes", "a", facts, now=NOW)
        return job

    job = await store.write(write)
    found = await store.read(lambda conn: rehome_jobs.load(conn, job))
    assert found is not None
    assert (found.people, found.notes, found.requests) == (("a", "b"), ("a line",), 3)
    assert (found.state, found.sessions_done, found.messages_done) == ("running", 1, 2)
    assert await store.read(lambda conn: hand_notes.facts(conn, "hermes", "a")) == ("y", "z")
    assert await store.read(lambda conn: hand_notes.facts(conn, "a", "a")) == ()
    await store.write(lambda tx: hand_notes.forget(tx, "c1"))
    assert await store.read(lambda conn: hand_notes.of(conn, NoteKind.CONCLUSION)) == []
