"""Crashes: first everything again, then one at a time, then given up."""

from __future__ import annotations

import pytest

from gateway.policy.crashes import COMPANY, MOST, Way, way


@pytest.mark.parametrize(
    ("crashes", "patient", "expected"),
    [
        (0, False, Way.BESIDE_OTHERS),
        (COMPANY - 1, False, Way.BESIDE_OTHERS),
        (COMPANY, False, Way.ALONE),
        (MOST - 1, False, Way.ALONE),
        (MOST, False, Way.NOT_AGAIN),
        (1_000, False, Way.NOT_AGAIN),
        (COMPANY, True, Way.BESIDE_OTHERS),
        (1_000, True, Way.BESIDE_OTHERS),
    ],
)
def test_way(crashes: int, patient: bool, expected: Way) -> None:
    assert way(crashes, patient=patient) is expected


def test_some_of_the_crashes_that_count_are_met_alone() -> None:
    """Else company would be given up for what another did."""
    assert 1 <= COMPANY < MOST - 1
