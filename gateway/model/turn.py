"""States of a turn and the legal steps between them, as data."""

from __future__ import annotations

from enum import StrEnum

from gateway.model.errors import IllegalTransitionError


class TurnState(StrEnum):
    """Life of a turn; a refused event never becomes one: its inbox row says ``REFUSED``."""

    RECEIVED = "received"
    ADMITTED = "admitted"
    RUNNING = "running"
    ANSWERED = "answered"
    SETTLED = "settled"
    REFUSED = "refused"
    EXPIRED = "expired"
    #: the agent could not answer; the person was told
    FAILED = "failed"
    #: given up after too many crashes or errors of our own
    DEAD = "dead"


TRANSITIONS: dict[TurnState, frozenset[TurnState]] = {
    TurnState.RECEIVED: frozenset({TurnState.ADMITTED, TurnState.REFUSED, TurnState.EXPIRED}),
    TurnState.ADMITTED: frozenset({TurnState.RUNNING, TurnState.EXPIRED, TurnState.DEAD}),
    TurnState.RUNNING: frozenset({TurnState.ANSWERED, TurnState.FAILED, TurnState.DEAD}),
    TurnState.ANSWERED: frozenset({TurnState.SETTLED}),
    TurnState.FAILED: frozenset({TurnState.SETTLED}),
    TurnState.SETTLED: frozenset(),
    TurnState.REFUSED: frozenset(),
    TurnState.EXPIRED: frozenset(),
    TurnState.DEAD: frozenset({TurnState.SETTLED}),
}


def check_transition(old: TurnState, new: TurnState) -> None:
    """Raise ``IllegalTransitionError`` unless ``old`` → ``new`` is a legal step."""
    if new not in TRANSITIONS[old]:
        raise IllegalTransitionError(f"a turn cannot go from {old.value} to {new.value}")
