"""What is made to go wrong with calls of the Web API."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

    from tests.emulators.slack.errors import SlackError


class FaultKind(StrEnum):
    """How one call goes wrong."""

    #: refused before the work
    ERROR = "error"
    #: the connection breaks before the work
    DROP = "drop"
    #: answered with something that is not the Web API's, before the work
    MALFORMED = "malformed"
    #: the work is done, the connection breaks instead of an answer
    LOSE = "lose"
    #: the work is done, the answer is cut off in the middle
    TRUNCATED = "truncated"
    #: the work and the answer come late
    SLOW = "slow"


BEFORE_THE_WORK = frozenset({FaultKind.ERROR, FaultKind.DROP, FaultKind.MALFORMED})
AFTER_THE_WORK = frozenset({FaultKind.LOSE, FaultKind.TRUNCATED})


@dataclass(slots=True)
class Fault:
    """One planned fault for the next ``times`` calls of ``method`` (in ``channel`` only)."""

    kind: FaultKind
    method: str
    times: int = 1
    channel: str = ""
    error: SlackError | None = None
    seconds: float = 0.0
    status: int = 200
    body: str = ""

    def concerns(self, method: str, channel: str) -> bool:
        """Return whether this fault is for such a call."""
        return self.times > 0 and self.method == method and self.channel in ("", channel)


class Faults:
    """Planned faults, used up in the order in which they were planned."""

    def __init__(self) -> None:
        self._planned: list[Fault] = []

    def plan(self, fault: Fault) -> None:
        """Add a fault."""
        self._planned.append(fault)

    def take(self, kinds: Container[FaultKind], method: str, channel: str) -> Fault | None:
        """Use up one matching fault."""
        for fault in self._planned:
            if fault.kind in kinds and fault.concerns(method, channel):
                fault.times -= 1
                return fault
        return None
