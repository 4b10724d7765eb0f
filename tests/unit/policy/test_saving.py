"""When rows go to the memory service, and how many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.saving import ALONE, BATCH, Waiting, choose, poisonous, ripe

if TYPE_CHECKING:
    from gateway.policy.saving import Frequency


@pytest.mark.parametrize(
    ("frequency", "waiting", "expected"),
    [
        ("async", Waiting(1, 0, closed=False), True),
        ("turn", Waiting(1, 0, closed=False), True),
        ("session", Waiting(9, 1799, closed=False), False),
        ("session", Waiting(1, 1800, closed=False), True),
        ("session", Waiting(1, 0, closed=True), True),
        (3, Waiting(2, 1799, closed=False), False),
        (3, Waiting(3, 0, closed=False), True),
        (3, Waiting(1, 1800, closed=False), True),
        (3, Waiting(1, 0, closed=True), True),
        (1, Waiting(1, 0, closed=False), True),
    ],
)
def test_ripe(frequency: Frequency, waiting: Waiting, expected: bool) -> None:
    assert ripe(frequency, waiting) is expected


@pytest.mark.parametrize(
    ("attempts", "overtaken", "expected"),
    [
        ([0], False, (0, 1)),
        ([0] * 100, False, (0, 100)),
        ([2] * 100, False, (0, 100)),
        ([3] * 100, False, (0, 25)),
        ([4] * 100, False, (0, 6)),
        ([5] * 100, False, (0, 1)),
        ([6, 5, 5], False, (1, 2)),
        ([6, 6, 5], False, (2, 3)),
        ([6, 6, 6], False, (0, 1)),
        ([6, 5, 5], True, (0, 1)),
        ([6], False, (0, 1)),
        ([99, 99, 0], False, (2, 3)),
    ],
)
def test_choose(attempts: list[int], overtaken: bool, expected: tuple[int, int]) -> None:
    assert choose(attempts, overtaken=overtaken) == expected


@given(st.lists(st.integers(0, 50), min_size=1, max_size=BATCH), st.booleans())
def test_something_is_always_chosen_and_order_is_kept_while_all_is_well(
    attempts: list[int], overtaken: bool
) -> None:
    first, end = choose(attempts, overtaken=overtaken)
    assert 0 <= first < end <= len(attempts)
    assert end - first <= BATCH
    if attempts[0] < ALONE:
        assert first == 0


@given(st.integers(1, 6), st.data())
def test_whatever_the_service_fails_on_is_found(count: int, data: st.DataObject) -> None:
    """A service that fails on some rows for ever takes all others, and these are found out."""
    bad = data.draw(st.sets(st.integers(0, count - 1), max_size=count - 1))
    if count - 1 in bad:
        bad.discard(count - 1)
    attempts, taken, parked = dict.fromkeys(range(count), 0), set[int](), set[int]()
    for _ in range(300):
        waiting = [row for row in attempts if row not in taken | parked]
        if not waiting:
            break
        late = any(row > waiting[0] for row in taken)
        first, end = choose([attempts[row] for row in waiting], overtaken=late)
        batch = waiting[first:end]
        if not bad & set(batch):
            taken |= set(batch)
            continue
        for row in batch:
            attempts[row] += 1
        alone = len(batch) == 1
        late = any(row > batch[0] for row in taken)
        if poisonous(attempts[batch[0]], alone=alone, overtaken=late):
            parked.add(batch[0])
    assert parked == bad
    assert taken == set(range(count)) - bad


@pytest.mark.parametrize(
    ("attempts", "alone", "overtaken", "expected"),
    [
        (ALONE, True, True, True),
        (ALONE - 1, True, True, False),
        (ALONE, False, True, False),
        (1000, True, False, False),
    ],
)
def test_poisonous(attempts: int, alone: bool, overtaken: bool, expected: bool) -> None:
    assert poisonous(attempts, alone=alone, overtaken=overtaken) is expected
    assert poisonous(attempts, alone=alone, overtaken=False, deadly=overtaken) is expected
