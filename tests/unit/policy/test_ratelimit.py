"""How fast people may write, and how fast we may (H-34)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.ratelimit import (
    Bucket,
    Pace,
    PaceRules,
    Quota,
    next_slot,
    pause,
    rate_wait,
    record,
)
from tests.unit.policy.samples import NOON

RULES = PaceRules()


@pytest.mark.parametrize(
    ("ages", "seconds"),
    [
        ([], 0.0),
        ([1, 2], 0.0),
        ([1, 2, 3], 57.0),
        ([3, 1, 2], 57.0),
        ([1, 2, 30, 40], 30.0),
        ([1, 2, 60], 0.0),
        ([59.5, 59.6, 59.7], pytest.approx(0.3)),
        ([-600, -500, -400], 60.0),  # the clock was set back
    ],
)
def test_a_person_is_within_the_rate(ages: list[float], seconds: float) -> None:
    recent = [NOON - timedelta(seconds=age) for age in ages]
    assert rate_wait(recent, NOON, per_minute=3) == seconds


def slot(pace: Pace, chat: str, now: float, *, group: bool = False) -> float:
    return next_slot(pace, chat, now, group=group, rules=RULES)


def send(pace: Pace, chat: str, now: float, *, times: int = 1) -> Pace:
    for _ in range(times):
        pace = record(pace, chat, now, rules=RULES)
    return pace


def test_an_idle_account_sends_at_once() -> None:
    assert slot(Pace(), "a", 5.0) == 5.0


def test_a_private_chat_takes_a_burst_then_one_message_a_second() -> None:
    pace = send(Pace(), "a", 5.0, times=2)
    assert slot(pace, "a", 5.0) == 5.0
    pace = send(pace, "a", 5.0)
    assert slot(pace, "a", 5.25) == 6.0
    assert slot(pace, "a", 6.0) == 6.0
    assert slot(pace, "b", 5.25) == 5.25
    pace = send(pace, "a", 6.0)
    assert slot(pace, "a", 6.0) == 7.0
    assert slot(pace, "a", 9.0) == 9.0


def test_a_group_takes_twenty_a_minute() -> None:
    pace, now, sent = Pace(), 100.0, []
    for _ in range(21):
        now = slot(pace, "g", now, group=True)
        sent.append(now)
        pace = send(pace, "g", now)
    burst = [100.0, 100.0]
    assert sent == [*burst, *(100.0 + each for each in range(18)), 160.0]


def test_an_account_sends_thirty_a_second() -> None:
    pace = Pace()
    for each in range(30):
        assert slot(pace, f"chat{each}", 5.0) == 5.0
        pace = send(pace, f"chat{each}", 5.0)
    assert slot(pace, "one more", 5.5) == 6.0


def test_a_limit_of_a_chat_pauses_that_chat_only() -> None:
    pace = pause(Pace(), "a", 35.0)
    assert slot(pace, "a", 5.0) == 35.0
    assert slot(pace, "b", 5.0) == 5.0
    assert slot(pace, "a", 36.0) == 36.0


def test_a_limit_of_the_account_pauses_all() -> None:
    pace = pause(Pace(), None, 6.5)
    assert [slot(pace, chat, 5.0) for chat in "ab"] == [6.5, 6.5]


@pytest.mark.parametrize("chat", ["a", None])
def test_a_shorter_pause_never_ends_a_longer_one(chat: str | None) -> None:
    pace = pause(pause(Pace(), chat, 35.0), chat, 10.0)
    assert slot(pace, "a", 5.0) == 35.0


def test_a_send_keeps_pauses_that_last_and_forgets_the_rest() -> None:
    pace = pause(pause(Pace(), "a", 35.0), "b", 6.0)
    pace = send(send(pace, "c", 5.0), "d", 7.0)
    assert pace.paused == {"a": 35.0}
    late = send(pace, "e", 100.0)
    assert (late.chats, late.paused, late.sent) == ({"e": (100.0,)}, {}, (100.0,))


@given(st.lists(st.floats(0, 3), min_size=1, max_size=40), st.integers(1, 4))
def test_a_bucket_keeps_its_average_and_its_burst(gaps: list[float], burst: int) -> None:
    """Any ``burst + n`` messages take at least ``n`` intervals."""
    bucket, now, times = Bucket(1.0, burst), 0.0, list[float]()
    for gap in gaps:
        now = max(now + gap, bucket.free_at(tuple(times)))
        times.append(now)
    for first, at in enumerate(times):
        for last in range(first + burst, len(times)):
            assert times[last] - at >= last - first - burst + 1 - 1e-6


SENDS = st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 3)), min_size=1, max_size=40)
SMALL = PaceRules(
    private=(Quota(1, 1.0),), group=(Quota(1, 1.0), Quota(3, 10.0)), overall=(Quota(2, 1.0),)
)


@given(SENDS)
def test_no_quota_is_ever_exceeded(sends: list[tuple[str, float]]) -> None:
    """Chat ``c`` is a group; everything is sent as early as allowed."""
    pace, now = Pace(), 0.0
    sent: list[tuple[str, float]] = []
    for chat, gap in sends:
        now = next_slot(pace, chat, now + gap, group=chat == "c", rules=SMALL)
        pace = record(pace, chat, now, rules=SMALL)
        sent.append((chat, now))
    for chats, quotas in (("abc", SMALL.overall), ("a", SMALL.private), ("c", SMALL.group)):
        times = [at for chat, at in sent if chat in chats]
        for quota in quotas:
            assert isinstance(quota, Quota)
            pairs = zip(times, times[quota.count :], strict=False)
            assert all(later >= first + quota.seconds for first, later in pairs)
