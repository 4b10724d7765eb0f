"""Sessions are begun within what Discord allows, whatever goes wrong."""

from __future__ import annotations

import pytest

from adapters.discord.budget import PER_DAY, RESERVE, Budget
from adapters.discord.client import SessionLimit
from gateway.model.errors import RateLimitedError
from tests.fakes.skipping import SkippingClock

PLENTY = SessionLimit(1000, 86_400.0)


async def test_two_sessions_are_five_seconds_apart() -> None:
    clock = SkippingClock()
    budget = Budget(clock)
    await budget.take(PLENTY)
    clock.elapsed += 2.0
    await budget.take(PLENTY)
    assert clock.slept == [pytest.approx(3.0)]


async def test_a_day_holds_fewer_than_discord_counts() -> None:
    clock = SkippingClock()
    budget = Budget(clock)
    for _ in range(PER_DAY):
        await budget.take(PLENTY)
    with pytest.raises(RateLimitedError) as caught:
        await budget.take(PLENTY)
    assert PER_DAY < 1000
    assert caught.value.retry_after == pytest.approx(86_400.0 - 5.0 * (PER_DAY - 1), abs=10)


async def test_what_earlier_processes_used_counts() -> None:
    clock = SkippingClock()
    budget = Budget(clock)
    with pytest.raises(RateLimitedError) as caught:
        await budget.take(SessionLimit(RESERVE, 1234.0))
    assert caught.value.retry_after == 1234.0
    await budget.take(SessionLimit(RESERVE + 1, 1234.0))
    assert clock.slept == []
