"""The breaker leaves a failing service alone, and looks once before all go back to it."""

from __future__ import annotations

import pytest

from gateway.memory.breaker import FIRST, LONGEST, THRESHOLD, Breaker
from gateway.model.errors import (
    MemoryAmbiguousError,
    MemoryCredentialsError,
    MemoryGoneError,
    MemoryLimitedError,
    MemoryRejectedError,
    MemoryServiceError,
    MemoryUnavailableError,
)
from tests.fakes.clock import FakeClock

DOWN = MemoryUnavailableError("down")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def breaker(clock: FakeClock) -> Breaker:
    return Breaker(clock)


def fail(breaker: Breaker, times: int, error: MemoryServiceError = DOWN) -> None:
    for _ in range(times):
        breaker.check()
        breaker.failed(error)


def test_it_lets_everything_through_at_first(breaker: Breaker) -> None:
    breaker.check()
    assert (breaker.state.pause, breaker.state.failures, breaker.state.code) == (0.0, 0, "")


async def test_five_failures_in_a_row_pause_it(breaker: Breaker, clock: FakeClock) -> None:
    fail(breaker, THRESHOLD)
    with pytest.raises(MemoryUnavailableError) as caught:
        breaker.check()
    assert (caught.value.code, caught.value.retry_after) == ("memory_paused", FIRST)
    assert breaker.state.failures == THRESHOLD
    await clock.advance(FIRST - 1)
    with pytest.raises(MemoryUnavailableError):
        breaker.check()
    await clock.advance(1)
    breaker.check()


def test_a_success_between_starts_the_count_anew(breaker: Breaker) -> None:
    fail(breaker, THRESHOLD - 1)
    breaker.succeeded()
    fail(breaker, THRESHOLD - 1, MemoryAmbiguousError("broken"))
    breaker.check()


async def test_pauses_double_up_to_five_minutes(breaker: Breaker, clock: FakeClock) -> None:
    fail(breaker, THRESHOLD)
    pauses = []
    for _ in range(6):
        pauses.append(breaker.state.pause)
        await clock.advance(breaker.state.pause)
        fail(breaker, 1)
    assert pauses == [30.0, 60.0, 120.0, 240.0, LONGEST, LONGEST]


async def test_after_a_pause_one_looks_for_all(breaker: Breaker, clock: FakeClock) -> None:
    fail(breaker, THRESHOLD)
    await clock.advance(FIRST)
    breaker.check()
    with pytest.raises(MemoryUnavailableError):
        breaker.check()
    breaker.succeeded()
    breaker.check()


async def test_a_probe_that_never_came_back_is_forgotten(
    breaker: Breaker, clock: FakeClock
) -> None:
    fail(breaker, THRESHOLD)
    await clock.advance(FIRST)
    breaker.check()
    await clock.advance(60)
    breaker.check()


def test_a_refused_key_pauses_at_once_and_says_so(breaker: Breaker) -> None:
    fail(breaker, 1, MemoryCredentialsError("the key"))
    with pytest.raises(MemoryCredentialsError) as caught:
        breaker.check()
    assert caught.value.retry_after == FIRST
    assert breaker.state.code == "memory_credentials"


@pytest.mark.parametrize(
    "error", [MemoryRejectedError(), MemoryGoneError(), MemoryLimitedError(retry_after=3)]
)
def test_a_refusal_is_an_answer(breaker: Breaker, error: MemoryServiceError) -> None:
    fail(breaker, THRESHOLD - 1)
    fail(breaker, THRESHOLD, error)
    assert breaker.state.failures == 0
