"""Who asked what, so that each answer goes to the console that waits for it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adapters.console.sink import Screen
    from gateway.model.ids import MessageId


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """One message on its way."""

    message: MessageId
    screen: Screen
    command: bool
    #: False for a line of a pipe, which is answered alone
    joinable: bool
    answered: asyncio.Event = field(default_factory=asyncio.Event)


class Desk:
    """The open questions of one conversation, oldest first."""

    def __init__(self) -> None:
        self._open: dict[MessageId, Question] = {}

    def put(self, question: Question) -> None:
        """Open a question."""
        self._open[question.message] = question

    def withdraw(self, question: Question) -> None:
        """Forget a question that was never handed in."""
        self._open.pop(question.message, None)

    def covered(self, reply_to: MessageId | None) -> list[Question]:
        """Return the questions that an answer to ``reply_to`` answers, ``reply_to`` last.

        A joined turn answers its last message, and by that the ones joined before it.
        """
        asked = self._open.get(reply_to) if reply_to is not None else None
        if asked is None:
            return []
        if asked.command or not asked.joinable:
            return [asked]
        joined = []
        for question in self._open.values():
            if question.joinable and not question.command:
                joined.append(question)
            if question is asked:
                break
        return joined

    def settle(self, questions: Iterable[Question]) -> None:
        """Close questions and release who waits for their answers."""
        for question in questions:
            self._open.pop(question.message, None)
            question.answered.set()

    def asked(self, message: MessageId) -> Question | None:
        """Return the open question with this id; None when an earlier process was asked."""
        return self._open.get(message)
