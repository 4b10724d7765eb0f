"""What the person gets to read of a turn: the pieces joined are the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.text.clean import blank

if TYPE_CHECKING:
    from collections.abc import Callable

_GAP = "\n\n"


class Transcript:
    """Passes pieces on and keeps them.

    A model may speak several times in a turn, before and between its tool calls; these texts are
    joined by an empty line. White space is held back until something visible follows.
    """

    def __init__(self, emit: Callable[[str], None]) -> None:
        self._emit = emit
        self._held = ""
        self._before = ""
        self._at_start = True
        #: all that was passed on
        self.text = ""

    def begin(self) -> None:
        """Start the next of the model's texts."""
        self._held = ""
        self._before = _GAP if self.text else ""
        self._at_start = True

    def add(self, piece: str) -> None:
        """Take the next piece of the present text."""
        self._held += piece
        if self._at_start and blank(self._held):
            return
        shown = self._held.rstrip()
        if not shown:
            return
        self._held = self._held[len(shown) :]
        if self._at_start:
            shown = self._before + shown.lstrip()
            self._at_start = False
        self.text += shown
        self._emit(shown)
