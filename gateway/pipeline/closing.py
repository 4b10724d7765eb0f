"""Closing a turn: the one commit that holds answer, outbox, ledger and state together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from gateway.model.turn import TurnState
from gateway.pipeline import handing
from gateway.store import files, ledger, messages, outbox, recall, search, turns
from gateway.text import catalog
from gateway.text.clean import blank, clean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gateway.memory.lane import Wake
    from gateway.model.files import SentFile
    from gateway.model.outbound import RichText
    from gateway.model.turn import TurnState as State
    from gateway.pipeline.opening import OpenTurn
    from gateway.pipeline.post import Post
    from gateway.pipeline.prefetch import Prefetch
    from gateway.pipeline.rules import Rules
    from gateway.ports import Answer, Clock
    from gateway.store.engine import Tx
    from gateway.store.turns import Turn

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Closed:
    """What is to be committed: said by the agent (may be empty), shown to the person."""

    #: what history and memory keep
    said: str
    contents: Sequence[RichText]
    answer: Answer | None = None
    #: they lie in the folder of files already
    files: Sequence[SentFile] = ()


class Closing:
    """Writes the end of a turn. ``compose`` first, outside the transaction: it costs time."""

    def __init__(
        self, clock: Clock, post: Post, folder: Path, *, prefetch: Prefetch, wake: Wake
    ) -> None:
        """``folder``: where files of answers are kept."""
        self._clock = clock
        self._post = post
        self._folder = folder
        self._prefetch = prefetch
        self._wake = wake

    async def compose(self, turn: Turn, answer: Answer, behind: str = "") -> Closed:
        """Return what an agent's answer becomes for its person; a stopped one has no files.

        ``behind``: Markdown that its person is told besides; memory keeps nothing of it.
        """
        said = clean(answer.text)
        if blank(said):
            said = ""
        made = () if answer.stopped else handing.named(answer.files)
        words = self._words(turn, said, stopped=answer.stopped, wordless=bool(made))
        shown = "\n\n".join(each for each in (words, behind) if each)
        contents = self._post.compose(turn.address.platform, shown) if shown else ()
        kept = handing.mentioned(said, made)
        if said and self._post.takes_files(turn.address.platform):
            made = (*made, *handing.besides(said, len(contents)))
        try:
            sent = await handing.keep(self._folder, turn.id, made)
        except OSError as error:
            log.error("files.lost", action="turn", turn=turn.id, error=error.strerror)
            told = catalog.text("sent.unstored", turn.language)
            lost = self._post.compose(turn.address.platform, told)
            return Closed(said, [*contents, *lost], answer)
        return Closed(kept, contents, answer, sent)

    def _words(self, turn: Turn, said: str, *, stopped: bool, wordless: bool) -> str:
        """Return what is shown of an answer; nothing where a file says it all."""
        if not said:
            key = "stopped" if stopped else "empty_answer"
            return "" if wordless else catalog.text(key, turn.language)
        return f"{said}\n\n{catalog.text('stopped', turn.language)}" if stopped else said

    def answered(self, tx: Tx, opened: OpenTurn, closed: Closed, rules: Rules) -> None:
        """Commit an answer."""
        turn, now = opened.turn, self._clock.now()
        usage = None
        if closed.answer is not None:
            usage = {
                "model": closed.answer.model,
                "requests": closed.answer.requests,
                "input_tokens": closed.answer.input_tokens,
                "output_tokens": closed.answer.output_tokens,
                "stopped": closed.answer.stopped,
            }
        turns.advance(tx, turn.id, TurnState.ANSWERED, now=now, usage=usage)
        self._remember_people(tx, opened, rules, wordless=True)
        carried: list[int] = []
        if closed.said:
            message = self._remember_answer(tx, turn, closed.said, rules)
            carried = files.carry(tx, turn.id, message, closed.files, now=now)
        self._finish(tx, turn, closed.contents, carried)
        self._prefetch.request(tx, opened, rules)

    def failed(self, tx: Tx, opened: OpenTurn, told: str, rules: Rules, *, error: str) -> None:
        """Commit that there is no answer, and tell the person why (``told``: Markdown)."""
        self._without_answer(tx, opened, rules, TurnState.FAILED, error)
        contents = self._post.compose(opened.turn.address.platform, told)
        self._finish(tx, opened.turn, contents)

    def expired(self, tx: Tx, opened: OpenTurn, rules: Rules) -> None:
        """Record messages that are too old to be answered."""
        self._remember_people(tx, opened, rules)
        search.feed(tx, opened.turn.id)

    def dead(self, tx: Tx, opened: OpenTurn, rules: Rules, *, error: str) -> None:
        """Give a turn up that kept failing on our side; the person is told."""
        self._without_answer(tx, opened, rules, TurnState.DEAD, error)
        shown = catalog.text("failed.internal", opened.turn.language)
        contents = self._post.compose(opened.turn.address.platform, shown)
        self._finish(tx, opened.turn, contents)

    def _without_answer(
        self, tx: Tx, opened: OpenTurn, rules: Rules, state: State, error: str
    ) -> None:
        now = self._clock.now()
        turns.advance(tx, opened.turn.id, state, now=now, error=error, detail=error)
        self._remember_people(tx, opened, rules)

    def _finish(
        self, tx: Tx, turn: Turn, contents: Sequence[RichText], carried: Sequence[int] = ()
    ) -> None:
        turns.drop_steps(tx, turn.id)
        recall.thaw(tx, turn.id)
        search.feed(tx, turn.id)
        self._post.send(
            tx,
            outbox.Letter(
                key=turn.id,
                address=turn.address,
                contents=contents,
                files=carried,
                purpose=outbox.ANSWER,
                turn=turn.id,
                reply_to=turn.reply_to,
            ),
        )

    def _remember_people(
        self, tx: Tx, opened: OpenTurn, rules: Rules, *, wordless: bool = False
    ) -> None:
        """Write down what people said.

        ``wordless``: messages without words too (a picture, a forward). They never go to memory,
        but the history without them would show answers to nothing.
        """
        for row in opened.rows:
            mute = blank(row.event.text)
            if mute and not wordless:
                continue
            entry = ledger.Entry(opened.turn.session, opened.turn.peer, row.message_id)
            skip = ledger.NO_TEXT if mute else rules.skip_user
            ledger.add(tx, entry, ledger.LedgerState.DUE, skip=skip, now=self._clock.now())
        if not rules.skip_user:
            self._wake(tx, opened.turn.session, once=opened.turn.id)

    def _remember_answer(self, tx: Tx, turn: Turn, said: str, rules: Rules) -> int:
        now = self._clock.now()
        message = messages.add(
            tx,
            messages.Said(0, messages.ASSISTANT, "", said, now),
            session=turn.session,
            turn=turn.id,
        )
        entry = ledger.Entry(turn.session, rules.agent_peer, message)
        ledger.add(tx, entry, ledger.LedgerState.HELD, skip=rules.skip_agent, now=now)
        return message
