"""When a session's rows go to the memory service, and how many at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

#: an integer: every that many turns
Frequency = Literal["async", "turn", "session"] | int

#: most messages that the service takes at once
BATCH = 100
#: seconds of silence after which what waits is sent
SILENCE = 30 * 60.0
#: sends of a batch in vain until smaller ones are tried, and by how much smaller each time
_PATIENCE, _SHRINK = 2, 4
#: sends in vain after which a row is sent alone
ALONE = 5


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a session has waiting."""

    #: turns of which every row may go
    turns: int
    #: seconds since the last of them was written
    quiet: float
    #: nothing more will be said in the session
    closed: bool


def ripe(frequency: Frequency, waiting: Waiting) -> bool:
    """Tell whether it is time to send. Whatever the frequency, silence and the end count."""
    if waiting.closed or waiting.quiet >= SILENCE:
        return True
    match frequency:
        case "async" | "turn":
            return True
        case "session":
            return False
        case int(turns):
            return waiting.turns >= turns


def choose(attempts: Sequence[int], *, overtaken: bool) -> tuple[int, int]:
    """Return which waiting rows to send next, as first and last + 1.

    ``attempts`` counts the sends in vain of each, in order. A batch that the service keeps
    failing on shrinks until its first row goes alone. If that fails as well, the next one is
    tried once: either it is taken, and the first is sent a last time (``overtaken``), or the
    service takes nothing at all and the turn comes back to the first.
    """
    size = BATCH // _SHRINK ** max(0, attempts[0] - _PATIENCE)
    if size > 1:
        return 0, min(size, len(attempts))
    if not overtaken:
        for index in range(1, len(attempts)):
            if attempts[index] < attempts[index - 1]:
                return index, index + 1
    return 0, 1


def poisonous(attempts: int, *, alone: bool, overtaken: bool, deadly: bool = False) -> bool:
    """Tell whether a row is what the service fails on: it took another one meanwhile.

    ``deadly``: it is not the service that failed, our process died over it time after time.
    """
    return alone and (overtaken or deadly) and attempts >= ALONE
