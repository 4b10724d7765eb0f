"""Which waiting messages make one turn, and how long to wait for more of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

#: seconds of silence that end an album
_ALBUM_QUIET = 1.0
#: (share of the paste limit, seconds of silence that end the paste), longest first: clients cut
#: at the limit, or some way before it at a line's end
_PASTE_QUIET = ((0.9, 2.0), (0.6, 1.5))
#: no turn waits longer than this for its own parts
_LONGEST = 6.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message in the queue of one conversation, in order of arrival."""

    #: equal for two messages only when one account wrote both
    sender_key: str
    thread: str | None
    #: False for lines of a pipe or file: one line, one turn
    joinable: bool
    command: bool
    album: str | None
    #: characters, in the platform's unit
    length: int
    received_at: datetime


def join_count(waiting: Sequence[Waiting]) -> int:
    """Return how many of the leading messages make one turn; 0 only when none wait.

    Consecutive messages of one sender in one topic are joined, albums and texts alike.
    Commands and unjoinable messages stand alone.
    """
    if not waiting:
        return 0
    head = waiting[0]
    if not _joins(head, head):
        return 1
    return sum(1 for _ in takewhile(lambda item: _joins(head, item), waiting))


def _joins(head: Waiting, item: Waiting) -> bool:
    same = (item.sender_key, item.thread) == (head.sender_key, head.thread)
    return same and item.joinable and not item.command


def settle_delay(waiting: Sequence[Waiting], now: datetime, *, paste_limit: int) -> float:
    """Return the seconds to wait before the leading messages are taken as one turn.

    0 normally. Only a message near ``paste_limit`` (0: pastes are never cut) or of an album may
    have more of itself on the way; when somebody else has spoken since, nothing more can join.
    """
    count = join_count(waiting)
    if count == 0 or count < len(waiting) or not _joins(waiting[0], waiting[0]):
        return 0.0
    last = waiting[-1]
    quiet = _quiet(last, paste_limit)
    rest = quiet - (now - last.received_at).total_seconds()
    bound = _LONGEST - (now - waiting[0].received_at).total_seconds()
    return max(0.0, min(rest, bound, quiet))


def _quiet(last: Waiting, paste_limit: int) -> float:
    if last.album is not None:
        return _ALBUM_QUIET
    if paste_limit <= 0:
        return 0.0
    shares = (quiet for share, quiet in _PASTE_QUIET if last.length >= share * paste_limit)
    return next(shares, 0.0)
