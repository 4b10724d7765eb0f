"""What is made to go wrong, and flood control."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tests.emulators.telegram.errors import flood_wait

if TYPE_CHECKING:
    from collections.abc import Container

    from tests.emulators.telegram.errors import ApiError


#: sends that put no message into the chat
_FREE = {"sendchataction", "sendmessagedraft"}


class FaultKind(StrEnum):
    """How one call goes wrong."""

    #: refused before the work
    ERROR = "error"
    #: the connection breaks before the work
    DROP = "drop"
    #: answered with something that is not the Bot API's, before the work
    MALFORMED = "malformed"
    #: the work is done, the answer is cut off in the middle
    TRUNCATED = "truncated"
    #: the work is done, the connection breaks instead of an answer
    LOSE = "lose"
    #: the work and the answer come late
    SLOW = "slow"


BEFORE_THE_WORK = frozenset({FaultKind.ERROR, FaultKind.DROP, FaultKind.MALFORMED})
AFTER_THE_WORK = frozenset({FaultKind.TRUNCATED, FaultKind.LOSE})


@dataclass(slots=True)
class Fault:
    """One planned fault for the next ``times`` calls of ``method`` (in ``chat`` only, if set)."""

    kind: FaultKind
    method: str
    times: int = 1
    chat: int | None = None
    error: ApiError | None = None
    seconds: float = 0.0
    status: int = 200
    body: str = ""

    def concerns(self, method: str, chat: str) -> bool:
        """Return whether this fault is for such a call."""
        same_chat = self.chat is None or chat == str(self.chat)
        return self.times > 0 and self.method.lower() == method.lower() and same_chat


class Faults:
    """Planned faults, used up in the order in which they were planned."""

    def __init__(self) -> None:
        self._planned: list[Fault] = []

    def plan(self, fault: Fault) -> None:
        """Add a fault."""
        self._planned.append(fault)

    def take(self, kinds: Container[FaultKind], method: str, chat: str) -> Fault | None:
        """Use up one matching fault."""
        for fault in self._planned:
            if fault.kind in kinds and fault.concerns(method, chat):
                fault.times -= 1
                return fault
        return None


class Flood:
    """Flood control per bot and chat; sends and edits share one budget. Off at 0 seconds."""

    def __init__(self) -> None:
        self.per_chat = 0.0
        self._free_at: dict[tuple[int, str], float] = {}

    def spend(self, bot: int, method: str, chat: str) -> None:
        """Count a call, or raise 429 when the chat's last one is too recent."""
        counts = method.startswith(("send", "edit")) and method not in _FREE
        if not self.per_chat or not counts:
            return
        now = time.monotonic()
        free_at = self._free_at.get((bot, chat), 0.0)
        if now < free_at:
            raise flood_wait(math.ceil(free_at - now))
        self._free_at[bot, chat] = now + self.per_chat
