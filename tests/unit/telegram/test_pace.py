"""The pace of one bot, at times whose sums are off by a hair."""

from __future__ import annotations

import asyncio

import pytest

from adapters.telegram.pace import Pacer
from gateway.model.ids import PlaceId
from tests.fakes.clock import FakeClock

HERE = PlaceId("700100200")


@pytest.mark.parametrize("offset", [0.1, 0.000003, 1.000007, 77.700013, 86399.999999])
async def test_a_wait_that_is_next_to_nothing_ends(offset: float) -> None:
    for step in range(40):
        clock = FakeClock()
        await clock.advance(offset + step * 0.013007)
        pacer = Pacer(clock)
        writes = asyncio.gather(*(pacer.take_turn(HERE) for _ in range(6)))
        async with asyncio.timeout(10):
            await clock.advance(30)
            await writes
