"""How fast people may write to us, and how fast we may write to a platform."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

_MINUTE = 60.0


def rate_wait(recent: Sequence[datetime], now: datetime, *, per_minute: int) -> float:
    """Return the seconds until one more message is within ``access.rate``; 0.0 for now.

    ``recent`` holds the times of the person's counted messages in any order. The wait is at
    most a minute, whatever the clock did. ``per_minute`` is at least 1.
    """
    ages = sorted((now - at).total_seconds() for at in recent)
    counted = [age for age in ages if age < _MINUTE]
    if len(counted) < per_minute:
        return 0.0
    return min(_MINUTE, _MINUTE - counted[per_minute - 1])


@dataclass(frozen=True, slots=True)
class Quota:
    """At most ``count`` messages in any ``seconds``."""

    count: int
    seconds: float

    def free_at(self, times: tuple[float, ...]) -> float:
        """Return when one more message is allowed after those of ``times``, oldest first."""
        return times[-self.count] + self.seconds if len(times) >= self.count else 0.0

    @property
    def memory(self) -> float:
        """Seconds after which a sent message no longer matters."""
        return self.seconds


@dataclass(frozen=True, slots=True)
class Bucket:
    """A message each ``interval`` seconds on average; after a silence ``burst`` at once."""

    interval: float
    burst: int

    def free_at(self, times: tuple[float, ...]) -> float:
        """Return when one more message is allowed after those of ``times``, oldest first."""
        full = 0.0
        for at in times:
            full = max(full, at) + self.interval
        return full - (self.burst - 1) * self.interval

    @property
    def memory(self) -> float:
        """Seconds after which a sent message no longer matters."""
        return self.interval * (self.burst + 1)


Limit = Quota | Bucket


@dataclass(frozen=True, slots=True)
class PaceRules:
    """A platform's limits for one account; previews, edits and typing count as well.

    A message a second on average, with room for a short burst: a typing sign and its answer,
    or two answers in a row, need not wait for each other.
    """

    private: tuple[Limit, ...] = (Bucket(1.0, 3),)
    group: tuple[Limit, ...] = (Bucket(1.0, 3), Quota(20, 60.0))
    overall: tuple[Limit, ...] = (Quota(30, 1.0),)

    @property
    def memory(self) -> float:
        """Seconds after which a sent message no longer matters."""
        return max(limit.memory for limit in (*self.private, *self.group, *self.overall))


@dataclass(frozen=True, slots=True)
class Pace:
    """What one account has sent lately. Times are monotonic seconds, oldest first."""

    sent: tuple[float, ...] = ()
    chats: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    #: chat → moment before which nothing may be sent there
    paused: Mapping[str, float] = field(default_factory=dict)
    all_paused: float = 0.0


def next_slot(pace: Pace, chat: str, now: float, *, group: bool, rules: PaceRules) -> float:
    """Return the earliest moment, ``now`` or later, at which ``chat`` may be sent to."""
    limits = rules.group if group else rules.private
    return max(
        now,
        pace.all_paused,
        pace.paused.get(chat, now),
        _free(pace.sent, rules.overall, now),
        _free(pace.chats.get(chat, ()), limits, now),
    )


def _free(times: tuple[float, ...], limits: tuple[Limit, ...], now: float) -> float:
    return max((limit.free_at(times) for limit in limits), default=now)


def record(pace: Pace, chat: str, now: float, *, rules: PaceRules) -> Pace:
    """Return the state after a message went to ``chat``; call it at the moment of sending.

    What no longer matters is forgotten, so the state stays as small as the last minute.
    """
    since = now - rules.memory
    chats = {each: kept for each, times in pace.chats.items() if (kept := _since(times, since))}
    chats[chat] = (*chats.get(chat, ()), now)
    paused = {each: until for each, until in pace.paused.items() if until > now}
    return replace(pace, sent=(*_since(pace.sent, since), now), chats=chats, paused=paused)


def _since(times: tuple[float, ...], since: float) -> tuple[float, ...]:
    return tuple(at for at in times if at > since)


def pause(pace: Pace, chat: str | None, until: float) -> Pace:
    """Return the state after the platform asked to wait: one chat, or all of them (None).

    A shorter pause never ends a longer one.
    """
    if chat is None:
        return replace(pace, all_paused=max(pace.all_paused, until))
    longest = max(pace.paused.get(chat, until), until)
    return replace(pace, paused={**pace.paused, chat: longest})
