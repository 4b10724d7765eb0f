"""What the rate and the brake count: by sender, place and the platform's time."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from gateway.model.events import EventKind, Sender, SenderKind
from gateway.model.ids import PlaceId, ScopeId, UserId
from gateway.store import inbox
from tests.contract.store.samples import CONVERSATION, NOW, TURN, event, later, say

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.events import InboundEvent
    from gateway.store.engine import Store, Tx

MIRA = event().sender


def _keep(tx: Tx, new: InboundEvent, *, received: datetime | None = None) -> int:
    row = inbox.receive(tx, new, now=received or new.sent_at)
    assert row is not None
    inbox.admit(tx, row, new, CONVERSATION, message_id=say(tx), raw=b"")
    return row


def _at(seconds: float, message: str, **changes: object) -> InboundEvent:
    return replace(event(message), sent_at=later(seconds), **changes)  # type: ignore[arg-type]  # tests name the fields


async def _spoken(store: Store, *, sender: Sender = MIRA, here: bool = False) -> list[float]:
    """Return how many seconds after NOW the sender spoke, within the last minute of NOW."""
    new = replace(event("new"), sender=sender)
    found = await store.read(
        lambda conn: inbox.spoken(conn, new, since=NOW - timedelta(minutes=1), here=here)
    )
    return sorted((at - NOW).total_seconds() for at in found)


async def test_a_minute_by_the_platforms_time(store: Store) -> None:
    """A backlog arrives at once and was written over hours."""

    def fn(tx: Tx) -> None:
        for number, seconds in enumerate((-3600, -61, -60, -59, -1)):
            _keep(tx, _at(seconds, str(number)), received=NOW)

    await store.write(fn)
    assert await _spoken(store) == [-59, -1]


async def test_only_the_same_account_and_what_was_kept(store: Store) -> None:
    def fn(tx: Tx) -> None:
        _keep(tx, _at(-1, "1"))
        _keep(tx, _at(-2, "2", place=replace(event().place, id=PlaceId("elsewhere"))))
        _keep(tx, _at(-3, "3", sender=replace(MIRA, id=UserId("7001002001"))))
        _keep(tx, _at(-4, "4", sender=replace(MIRA, scope=ScopeId("T1"))))
        _keep(tx, _at(-5, "5", sender=Sender(SenderKind.UNKNOWN)))
        _keep(tx, _at(-6, "6", kind=EventKind.EDIT, revision="r"))
        refused = inbox.receive(tx, _at(-7, "7"), now=NOW)
        assert refused is not None
        inbox.conclude(tx, refused, state="refused", reason="rate")

    await store.write(fn)
    assert await _spoken(store) == [-6, -2, -1]
    assert await _spoken(store, here=True) == [-1]
    assert await _spoken(store, sender=replace(MIRA, scope=ScopeId("T1"))) == [-4]
    assert await _spoken(store, sender=Sender(SenderKind.UNKNOWN), here=True) == [-5]


async def test_refusals_are_found_by_place_and_reason(store: Store) -> None:
    def fn(tx: Tx) -> None:
        elsewhere = replace(event().place, id=PlaceId("elsewhere"))
        for number, (reason, where) in enumerate(
            (
                ("bot_brake:9", event().place),
                ("bot_brake:8", event().place),
                ("bot_brake:9", elsewhere),
            )
        ):
            row = inbox.receive(tx, _at(-number, str(number), place=where), now=NOW)
            assert row is not None
            inbox.conclude(tx, row, state="refused", reason=reason)

    await store.write(fn)
    found = await store.read(
        lambda conn: inbox.refused(
            conn, event(), since=NOW - timedelta(minutes=1), reason="bot_brake:9"
        )
    )
    assert found == [NOW]


async def test_when_the_newest_of_a_turn_came(store: Store) -> None:
    def fn(tx: Tx) -> datetime | None:
        rows = [_keep(tx, _at(0, str(number)), received=later(number)) for number in range(3)]
        inbox.assign(tx, rows[:2], TURN)
        return inbox.newest_of_turn(tx.conn, TURN)

    assert await store.write(fn) == later(1)
