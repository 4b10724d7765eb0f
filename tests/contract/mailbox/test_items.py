"""The mailbox's rows: strict order for each key, and only the last claimer can write."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest

from gateway.mailbox import items
from gateway.mailbox.items import Item, NotYet, Suspect
from gateway.model.errors import StaleLeaseError
from tests.fakes.clock import START
from tests.fakes.lanes import KEY, LANE, put, row

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from gateway.store.engine import Store, Tx


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


async def claim(store: Store, *, key: str = KEY, now: datetime = START) -> Item:
    claimed = await store.write(lambda tx: items.claim(tx, LANE, key, now=now))
    assert isinstance(claimed, Item)
    return claimed


async def finish(store: Store, item: Item, now: datetime = START) -> None:
    await store.write(lambda tx: items.finish(tx, item, now=now))


async def test_a_key_is_claimed_in_the_order_it_was_put(store: Store) -> None:
    await put(store, "b", "c", "a")
    await put(store, "other", key="another")
    for name in ("b", "c", "a"):
        item = await claim(store)
        assert (item.dedupe, item.payload, item.attempts, item.epoch) == (
            name,
            {"name": name},
            1,
            1,
        )
        assert (item.run_at, item.created_at, item.lane, item.key) == (START, START, LANE, KEY)
        await finish(store, item)
    assert await store.write(lambda tx: items.claim(tx, LANE, KEY, now=START)) is None
    assert (await claim(store, key="another")).dedupe == "other"


@pytest.mark.parametrize("end", [None, items.finish, items.bury])
async def test_a_dedupe_key_counts_once_whatever_became_of_it(
    store: Store, end: Callable[..., None] | None
) -> None:
    assert len(await put(store, "a")) == 1
    if end is not None:
        item = await claim(store)
        more = {"error": "e"} if end is items.bury else {}
        await store.write(lambda tx: end(tx, item, now=START, **more))
    assert await put(store, "a") == []
    assert await put(store, "a", key="another") == []
    assert len(await put(store, "a", lane="deliver")) == 1


LEAVE: dict[str, Callable[[Tx, Item], None]] = {
    "fence": items.fence,
    "finish": lambda tx, item: items.finish(tx, item, now=START),
    "bury": lambda tx, item: items.bury(tx, item, error="e", now=START),
    "put_back": lambda tx, item: items.put_back(tx, item, run_at=START),
}


@pytest.mark.parametrize("leave", LEAVE.values(), ids=LEAVE)
async def test_who_was_taken_over_can_do_nothing(
    store: Store, leave: Callable[[Tx, Item], None]
) -> None:
    await put(store, "a")
    frozen = await claim(store)
    awake = await claim(store)
    assert (awake.id, awake.epoch, awake.attempts, awake.crashes) == (frozen.id, 2, 1, 1)
    with pytest.raises(StaleLeaseError, match=f"turn item {frozen.id} was taken over"):
        await store.write(lambda tx: leave(tx, frozen))
    stored = await row(store, "a")
    assert (stored.state, stored.epoch, stored.error) == ("running", 2, "")
    await store.write(lambda tx: leave(tx, awake))
    if leave is not items.fence:
        with pytest.raises(StaleLeaseError):
            await store.write(lambda tx: leave(tx, awake))


async def test_two_claims_at_once_fence_each_other(store: Store) -> None:
    await put(store, "a")
    first, second = await asyncio.gather(claim(store), claim(store))
    assert {first.epoch, second.epoch} == {1, 2}
    old, new = sorted((first, second), key=lambda item: item.epoch)
    results = await asyncio.gather(finish(store, old), finish(store, new), return_exceptions=True)
    assert [type(result) for result in results] == [StaleLeaseError, type(None)]


async def test_a_head_that_waits_holds_back_its_key_only(store: Store) -> None:
    await put(store, "a", "b")
    await put(store, "other", key="another")
    item = await claim(store)
    await store.write(lambda tx: items.put_back(tx, item, run_at=at(10), error="flood"))
    waiting = await store.write(lambda tx: items.claim(tx, LANE, KEY, now=at(9.999)))
    assert waiting == NotYet(at(10))
    assert (await claim(store, key="another")).dedupe == "other"
    again = await claim(store, now=at(10))
    assert (again.dedupe, again.attempts, again.epoch) == ("a", 2, 2)
    assert (await row(store, "a")).error == "flood"
    await finish(store, again)
    assert ((await row(store, "a")).error, (await claim(store)).dedupe) == ("", "b")


@pytest.mark.parametrize(("counted", "attempts"), [(True, [1, 2, 3]), (False, [1, 1, 1])])
async def test_attempts_count_what_went_wrong(
    store: Store, counted: bool, attempts: list[int]
) -> None:
    await put(store, "a")
    seen = []
    for _ in range(3):
        item = await claim(store)
        seen.append(item.attempts)
        again = partial(items.put_back, item=item, run_at=START, counted=counted)
        await store.write(again)
    assert seen == attempts
    assert (await claim(store)).epoch == 4


async def test_a_claim_that_was_broken_off_is_a_crash_and_no_try(store: Store) -> None:
    await put(store, "a")
    counts = []
    for failed in (False, False, True, False):
        item = await claim(store)
        counts.append((item.attempts, item.crashes))
        if failed:
            await store.write(partial(items.put_back, item=item, run_at=START))
    assert counts == [(1, 0), (1, 1), (1, 2), (2, 2)]


async def test_who_is_not_accepted_is_not_claimed(store: Store) -> None:
    """Nor counted: what only waits to run alone is there at no further crash."""
    await put(store, "a")
    await claim(store)
    asked: list[int] = []

    def accept(crashes: int) -> bool:
        asked.append(crashes)
        return False

    for _ in range(2):
        held = partial(items.claim, lane=LANE, key=KEY, now=START, accept=accept)
        assert await store.write(held) == Suspect()
    stored = await row(store, "a")
    assert (asked, stored.crashes, stored.epoch) == ([1, 1], 0, 1)


async def test_the_least_suspicious_come_first(store: Store) -> None:
    for key, crashes in (("twice", 2), ("never", 0), ("once", 1)):
        await put(store, key, f"{key} behind", key=key)
        for _ in range(crashes + bool(crashes)):
            await claim(store, key=key)
    found = await store.read(items.live_keys_by_crashes)
    assert found == [(LANE, "never"), (LANE, "once"), (LANE, "twice")]


async def test_a_dead_item_lets_its_key_go_on_and_can_be_revived(store: Store) -> None:
    first, second = await put(store, "a", "b")
    item = await claim(store)
    await store.write(lambda tx: items.bury(tx, item, error="refused", now=at(1)))
    stored = await row(store, "a")
    assert (stored.state, stored.error, stored.finished_at) == ("dead", "refused", at(1))
    assert await store.write(lambda tx: items.revive(tx, second, now=at(2))) is False
    assert await store.write(lambda tx: items.revive(tx, first, now=at(2))) is True
    assert await store.write(lambda tx: items.revive(tx, first, now=at(2))) is False
    again = await claim(store, now=at(2))
    assert (again.id, again.attempts, again.run_at) == (first, 1, at(2))
    assert (await row(store, "a")).finished_at is None


async def test_what_waits_behind_can_be_absorbed(store: Store) -> None:
    head, *behind = await put(store, "a", "b", "c", "d", "e")
    item = await claim(store)
    seen = await store.write(lambda tx: items.waiting_behind(tx, item, limit=3))
    assert [one.id for one in seen] == behind[:3]
    await store.write(lambda tx: items.absorb(tx, [head, *behind[:2]], now=at(1)))
    assert (await row(store, "a")).state == "running"
    absorbed = await row(store, "b")
    assert (absorbed.state, absorbed.finished_at) == ("done", at(1))
    await finish(store, item)
    assert (await claim(store)).dedupe == "d"


async def test_an_exception_takes_its_absorbing_back(store: Store) -> None:
    _, second = await put(store, "a", "b")

    def fails(tx: Tx) -> None:
        items.absorb(tx, [second], now=START)
        raise LookupError

    with pytest.raises(LookupError):
        await store.write(fails)
    assert (await row(store, "b")).state == "ready"


async def test_live_is_what_waits_or_runs(store: Store) -> None:
    *_, last = await put(store, "a", "b", "c")
    await put(store, "d", key="another", lane="deliver")
    assert await store.write(lambda tx: items.newest(tx, LANE, KEY)) == last
    assert await store.write(lambda tx: items.newest(tx, "deliver", KEY)) is None
    assert await store.write(lambda tx: items.live_count(tx, LANE, KEY)) == 3
    item = await claim(store)
    assert await store.write(lambda tx: items.live_count(tx, LANE, KEY)) == 3
    await finish(store, item)
    buried = await claim(store)
    await store.write(lambda tx: items.bury(tx, buried, error="e", now=START))
    assert await store.write(lambda tx: items.live_count(tx, LANE, KEY)) == 1
    assert await store.read(items.live_by_lane) == {"deliver": 1, LANE: 1}
    assert sorted(await store.read(items.live_keys)) == [("deliver", "another"), (LANE, KEY)]
    await finish(store, await claim(store))
    assert await store.read(items.live_keys) == [("deliver", "another")]


async def test_done_items_are_forgotten_in_batches_and_dead_ones_kept(store: Store) -> None:
    await put(store, "dead", "a", "b", "c", "young", "live")
    item = await claim(store)
    await store.write(lambda tx: items.bury(tx, item, error="e", now=START))
    for finished in (START, START, START, at(100)):
        await finish(store, await claim(store), finished)
    forgotten = await store.write(
        lambda tx: [items.forget_done(tx, before=at(100), limit=2) for _ in range(3)]
    )
    assert forgotten == [2, 1, 0]
    assert await put(store, "dead", "young", "live") == []
    assert len(await put(store, "a", "b", "c")) == 3


async def test_an_item_that_waits_can_be_hurried(store: Store) -> None:
    """And those put again for the same, but nobody whose name only begins alike."""
    for name in ("1", "1/again", "10", "1%"):
        await put(store, name, key=name)
        item = await claim(store, key=name)
        await store.write(partial(items.put_back, item=item, run_at=at(60)))
    await store.write(lambda tx: items.hurry(tx, LANE, "1", now=at(0)))
    for name, due in (("1", True), ("1/again", True), ("10", False), ("1%", False)):
        found = await store.write(partial(items.claim, lane=LANE, key=name, now=at(0)))
        assert isinstance(found, Item) is due
