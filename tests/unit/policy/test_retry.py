"""When to try again (H-34)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.retry import Backoff

PLAIN = Backoff(first=1.0, factor=2.0, ceiling=30.0, jitter=0.0, attempts=8)


def test_pauses_grow_up_to_the_ceiling_and_end() -> None:
    pauses = [PLAIN.delay(attempt, roll=0.0) for attempt in range(1, 10)]
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, None, None]


@pytest.mark.parametrize(
    ("attempt", "asked", "pause"),
    [(1, 30.0, 30.0), (1, 0.5, 1.0), (5, 1.5, 16.0), (8, 30.0, 30.0), (99, 20.0, 30.0)],
)
def test_never_sooner_than_asked_and_no_answer_is_dropped_for_waiting(
    attempt: int, asked: float, pause: float
) -> None:
    assert PLAIN.delay(attempt, retry_after=asked, roll=0.0) == pause


@pytest.mark.parametrize(("roll", "pause"), [(0.0, 4.0), (0.5, 3.0), (1.0, 2.0)])
def test_chance_takes_a_share_off(roll: float, pause: float) -> None:
    spread = Backoff(1.0, 2.0, 30.0, jitter=0.5, attempts=8)
    assert spread.delay(3, roll=roll) == pause


BACKOFFS = st.builds(
    Backoff,
    first=st.floats(0.01, 10),
    factor=st.floats(1, 10),
    ceiling=st.floats(10, 1e6),
    jitter=st.floats(0, 1),
    attempts=st.just(10**7),
)


@given(
    BACKOFFS,
    st.integers(1, 10**6) | st.just(10**6),
    st.none() | st.floats(0, 1e6),
    st.floats(0, 1),
)
def test_a_pause_is_bounded_by_ceiling_and_request(
    backoff: Backoff, attempt: int, asked: float | None, roll: float
) -> None:
    pause = backoff.delay(attempt, retry_after=asked, roll=roll)
    assert pause is not None
    assert (asked or 0.0) <= pause <= max(backoff.ceiling, asked or 0.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"first": 0.0},
        {"first": 31.0},
        {"factor": 0.5},
        {"jitter": -0.1},
        {"jitter": 1.1},
        {"attempts": 0},
    ],
)
def test_a_backoff_checks_itself(wrong: dict[str, Any]) -> None:
    right = {"first": 1.0, "factor": 2.0, "ceiling": 30.0, "jitter": 0.0, "attempts": 1}
    with pytest.raises(ValueError, match="backoff"):
        Backoff(**{**right, **wrong})
