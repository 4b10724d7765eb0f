"""Questions with buttons: asking one, and what becomes of a press.

A question is put to one account, and only a press of that account counts, once. A press comes
through the intake like a message does, so a double one, or one from before a restart, changes
nothing. Whatever asks gives a handler for its kind of question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from gateway.mailbox.lanes import Done
from gateway.model.choice import Choice, Option, Tone
from gateway.pipeline.addresses import account_of, address_of, written
from gateway.store import outbox, questions
from gateway.text import catalog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import datetime

    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.model.choice import Pressed
    from gateway.model.outbound import Address
    from gateway.pipeline.post import Post
    from gateway.ports import Clock
    from gateway.store.engine import Tx
    from gateway.store.inbox import InboxRow
    from gateway.store.questions import Question

    #: what an answer does: run in the transaction that closes the question; returns the outcome
    Work = Callable[[Tx], str]
    #: called with a press, perhaps again after a crash; None: no such answer, nothing happens
    Handler = Callable[["Press"], Awaitable[Work | None]]

log = structlog.get_logger(__name__)

YES, NO = "yes", "no"


@dataclass(frozen=True, slots=True)
class Press:
    """A press that counts: of the account that was asked, on a question that is open."""

    row: InboxRow
    question: Question
    value: str

    def text(self, key: str, **values: object) -> str:
        """Return a text of the catalogue in the language of the question."""
        return catalog.text(key, self.question.language, **values)


def yes_or_no(language: str) -> tuple[Option, ...]:
    """Return the two buttons of a plain question."""
    return (
        Option(YES, catalog.text("choice.yes", language), Tone.GOOD),
        Option(NO, catalog.text("choice.no", language), Tone.BAD),
    )


def ask(
    tx: Tx,
    post: Post,
    asked: Question,
    where: Address,
    *,
    options: Sequence[Option],
    instead: str,
    key: str,
    now: datetime,
) -> None:
    """Put a question to its account; ``key`` names the letter, once.

    ``instead`` (Markdown) says how to answer by words where there are no buttons.
    """
    stored = questions.add(tx, asked, now=now)
    choice = Choice(stored.id, tuple(options), instead)
    post.question(tx, outbox.Letter(key, where, ()), asked.words, choice)


class Choices:
    """Handles presses in the ``command`` lane."""

    def __init__(self, clock: Clock, post: Post, handlers: Mapping[str, Handler]) -> None:
        self._clock = clock
        self._post = post
        self._handlers = handlers

    async def handle(self, lease: Lease, row: InboxRow, pressed: Pressed) -> Outcome:
        """Do what a press asks for, and show the outcome in place of the question."""
        found = await lease.store.read(lambda conn: questions.find(conn, pressed.choice))
        if found is None:
            return Done(lambda tx: self._gone(tx, row, pressed))
        if found.account != account_of(row.event):
            log.info("choice.foreign", action="choice", kind=found.kind)
            return Done(lambda tx: self._refuse(tx, row, found))
        handler = self._handlers.get(found.kind)
        if handler is None or found.answer is not None:
            return Done(lambda tx: self._gone(tx, row, pressed, found.language))
        work = await handler(Press(row, found, pressed.value))
        if work is None:
            return Done()
        return Done(lambda tx: self._close(tx, row, pressed, found, work))

    def _close(self, tx: Tx, row: InboxRow, pressed: Pressed, asked: Question, work: Work) -> None:
        outcome = work(tx)
        questions.close(tx, asked.id, pressed.value, now=self._clock.now())
        whole = f"{asked.words}\n\n{outcome}"
        fits = len(self._post.compose(row.event.platform, whole)) == 1
        self._show(tx, row, pressed, whole if fits else outcome)

    def _gone(self, tx: Tx, row: InboxRow, pressed: Pressed, language: str = "") -> None:
        """The question is closed. Where a press closed it, its outcome is shown already."""
        spoken = language or catalog.language_of(row.event.sender.language)
        self._show(tx, row, pressed, catalog.text("choice.closed", spoken))

    def _show(self, tx: Tx, row: InboxRow, pressed: Pressed, words: str) -> None:
        """Show ``words`` in place of the question, once for each question."""
        letter = outbox.Letter(
            f"choice:{pressed.choice}", address_of(row.event), (), edits=pressed.message
        )
        self._post.notice(tx, letter, words)

    def _refuse(self, tx: Tx, row: InboxRow, asked: Question) -> None:
        account = written(account_of(row.event))
        letter = outbox.Letter(f"choice:{asked.id}:{account}", address_of(row.event), ())
        language = catalog.language_of(row.event.sender.language)
        self._post.notice(tx, letter, catalog.text("choice.foreign", language))
