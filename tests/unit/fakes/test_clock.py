"""The fake clock keeps the order that a real one would."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from tests.fakes.clock import START, FakeClock


async def _note_after(clock: FakeClock, seconds: float, notes: list[tuple[str, float]]) -> None:
    await clock.sleep(seconds)
    notes.append((f"after {seconds:g}", clock.monotonic()))


async def test_sleepers_are_woken_in_order_each_at_its_time() -> None:
    clock, notes = FakeClock(), list[tuple[str, float]]()
    tasks = [asyncio.create_task(_note_after(clock, after, notes)) for after in (3, 1, 2, 9)]
    await clock.advance(5)
    assert notes == [("after 1", 1.0), ("after 2", 2.0), ("after 3", 3.0)]
    assert clock.now() == START + timedelta(seconds=5)
    assert clock.pauses == [4.0]
    await clock.advance(4)
    await asyncio.gather(*tasks)
    assert notes[-1] == ("after 9", 9.0)


async def test_one_advance_sees_a_chain_of_pauses() -> None:
    clock, notes = FakeClock(), list[tuple[str, float]]()

    async def ticks() -> None:
        for _ in range(3):
            await _note_after(clock, 0.1, notes)

    task = asyncio.create_task(ticks())
    await clock.advance(0.25)
    assert [at for _, at in notes] == [0.1, 0.2]
    await clock.advance(0.05)
    await task
    assert [at for _, at in notes] == [0.1, 0.2, 0.3]


async def test_a_cancelled_sleeper_is_gone() -> None:
    clock = FakeClock()
    task = asyncio.create_task(clock.sleep(1))
    await clock.until_sleeping()
    task.cancel()
    await asyncio.wait([task])
    assert clock.pauses == []
    await clock.advance(2)
    assert task.cancelled()


async def test_no_pause_is_one_pass_of_the_loop() -> None:
    clock = FakeClock()
    await clock.sleep(0)
    await clock.sleep(-1)
    assert clock.monotonic() == 0


async def test_waiting_for_sleepers_and_jumping() -> None:
    clock = FakeClock()
    task = asyncio.create_task(clock.sleep(60))
    await clock.until_sleeping(1)
    clock.jump(3600)
    assert clock.now() == START + timedelta(hours=1)
    assert (clock.monotonic(), clock.pauses, task.done()) == (0, [60.0], False)
    await clock.advance(60)
    assert task.done()
