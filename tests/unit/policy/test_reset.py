"""When a conversation starts anew (H-52)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.session import ResetMode, ResetRule, reset_due

BERLIN, BANGKOK, APIA = (
    ZoneInfo("Europe/Berlin"),
    ZoneInfo("Asia/Bangkok"),
    ZoneInfo("Pacific/Apia"),
)


def rule(mode: ResetMode = "daily", at_hour: int = 4, zone: ZoneInfo = BERLIN) -> ResetRule:
    return ResetRule(mode, idle_minutes=60, at_hour=at_hour, zone=zone)


def local(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_the_day_changes_in_the_configured_zone() -> None:
    before, after = local("2026-05-04 03:59", BANGKOK), local("2026-05-04 04:01", BANGKOK)
    assert reset_due(rule(zone=BANGKOK), last_activity=before, now=after) == "daily"
    assert reset_due(rule(zone=BERLIN), last_activity=before, now=after) is None


@pytest.mark.parametrize(
    ("last", "now", "reason"),
    [
        ("2026-05-04 03:59", "2026-05-04 04:00", "daily"),
        ("2026-05-04 04:00", "2026-05-04 23:59", None),
        ("2026-05-04 04:00", "2026-05-05 03:59", None),
        ("2026-05-04 23:50", "2026-05-05 04:00", "daily"),
        ("2026-05-01 12:00", "2026-05-04 03:00", "daily"),
    ],
)
def test_daily(last: str, now: str, reason: str | None) -> None:
    assert reset_due(rule(), last_activity=local(last), now=local(now)) == reason


@pytest.mark.parametrize(
    ("mode", "minutes", "reason"),
    [
        ("idle", 59, None),
        ("idle", 60, "idle"),
        ("both", 60, "idle"),
        ("both", 59, None),
        ("daily", 600, None),
        ("none", 100_000, None),
    ],
)
def test_idle(mode: ResetMode, minutes: int, reason: str | None) -> None:
    last = local("2026-05-04 05:00")
    found = reset_due(rule(mode), last_activity=last, now=last + timedelta(minutes=minutes))
    assert found == reason


def test_both_takes_the_daily_hour_before_the_silence_is_long() -> None:
    last, now = local("2026-05-04 03:50"), local("2026-05-04 04:10")
    assert reset_due(rule("both"), last_activity=last, now=now) == "daily"


@pytest.mark.parametrize("zone", [BERLIN, UTC])
def test_silence_is_measured_in_real_time(zone: ZoneInfo) -> None:
    """01:30 to 03:15 on the wall is 45 minutes in the night that skips an hour."""
    last, now = utc("2026-03-29 00:30").astimezone(zone), utc("2026-03-29 01:15").astimezone(zone)
    assert reset_due(rule("idle"), last_activity=last, now=now) is None


def resets(reset_rule: ResetRule, start: datetime, hours: int) -> list[datetime]:
    """Return the moments at which somebody who writes every minute meets a reset."""
    minutes = [start + timedelta(minutes=each) for each in range(hours * 60)]
    return [
        now
        for last, now in pairwise(minutes)
        if reset_due(reset_rule, last_activity=last, now=now)
    ]


@pytest.mark.parametrize(
    ("at_hour", "zone", "start", "found"),
    [
        (2, BERLIN, "2026-03-28 12:00", "2026-03-29 01:00"),
        (3, BERLIN, "2026-03-28 12:00", "2026-03-29 01:00"),
        (4, BERLIN, "2026-03-28 12:00", "2026-03-29 02:00"),
        (2, BERLIN, "2026-10-24 12:00", "2026-10-25 00:00"),
        (3, BERLIN, "2026-10-24 12:00", "2026-10-25 02:00"),
        (0, BERLIN, "2026-10-24 12:00", "2026-10-24 22:00"),
        (4, BANGKOK, "2026-10-24 12:00", "2026-10-24 21:00"),
        (4, APIA, "2011-12-30 00:00", "2011-12-30 14:00"),  # the day that was skipped
    ],
)
def test_a_night_resets_once(at_hour: int, zone: ZoneInfo, start: str, found: str) -> None:
    assert resets(rule(at_hour=at_hour, zone=zone), utc(start), 22) == [utc(found)]


@pytest.mark.parametrize("mode", ["idle", "daily", "both"])
def test_a_clock_set_back_resets_nothing(mode: ResetMode) -> None:
    last, now = local("2026-05-04 04:30"), local("2026-05-04 03:30")
    assert reset_due(rule(mode), last_activity=last, now=now) is None


MOMENTS = st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone


@given(MOMENTS, st.integers(0, 23), st.sampled_from([BERLIN, BANGKOK, APIA]))
def test_every_26_hours_hold_a_reset_and_none_follows_itself(
    now: datetime, at_hour: int, zone: ZoneInfo
) -> None:
    daily = rule(at_hour=at_hour, zone=zone)
    assert reset_due(daily, last_activity=now - timedelta(hours=26), now=now) == "daily"
    assert reset_due(daily, last_activity=now, now=now) is None
