"""The ``Deriver`` with a model: conclusions, summaries, and answers at five levels of effort.

When the model cannot be asked, whatever has to be told at once is told by rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from gateway.memory.embedded import forms, rules
from gateway.memory.embedded.costs import ANSWER, DERIVE, SUMMARY, OverBudgetError
from gateway.memory.embedded.deriver import Statement, Wish
from gateway.memory.embedded.judging import judge
from gateway.memory.embedded.rules import ByRule, chosen
from gateway.model.errors import AgentError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from gateway.memory.embedded.costs import Meter
    from gateway.memory.embedded.deriver import Batch, Finding, Known, Question, Talk
    from gateway.memory.embedded.ranking import Ranker

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Level:
    """What a question at one level may take."""

    #: notes that an answer is made from
    notes: int
    #: times that the model may look for more before it answers
    looks: int
    #: tokens of the answer
    tokens: int


#: the levels of the dialectic; docs/memory-thinking.md has this table
LEVELS = {
    "minimal": Level(notes=10, looks=0, tokens=250),
    "low": Level(notes=20, looks=0, tokens=400),
    "medium": Level(notes=30, looks=1, tokens=600),
    "high": Level(notes=40, looks=2, tokens=900),
    "max": Level(notes=60, looks=3, tokens=1500),
}
#: notes that one further search adds
_MORE = 10
#: messages that a summary is "long" from
_LONG_TALK = 50


class ByModel:
    """Thinks with a model; ``busy`` tells that answers must do without it now."""

    def __init__(self, meter: Meter, ranker: Ranker, busy: Callable[[], Awaitable[bool]]) -> None:
        self._meter = meter
        self._ranker = ranker
        self._rule = ByRule(ranker)
        self._busy = busy

    async def derive(self, batch: Batch, memo: dict[str, forms.Facts]) -> list[Finding]:
        """Return what a batch comes to. Equal requests of ``memo`` are made once.

        Pairs that heard and know the same share one request; any difference keeps them apart.
        Raises ``AgentError`` or ``OverBudgetError``.
        """
        shown = batch.known
        if len(shown) > forms.MOST_KNOWN:
            known = [Statement(each.text, each.at or batch.lines[0].at) for each in shown]
            said = " ".join(line.text for line in batch.lines if line.own)
            best = await chosen(self._ranker, known, Wish(said), forms.MOST_KNOWN)
            texts = {each.text for each in best}
            shown = tuple(each for each in shown if each.text in texts)[: forms.MOST_KNOWN]
        prompt = forms.derive(batch, shown)
        if prompt.text not in memo:
            memo[prompt.text] = await self._meter.complete(DERIVE, prompt, forms.Facts)
        return judge(batch, shown, memo[prompt.text])

    async def representation(self, known: Known, wish: Wish) -> str:
        """See ``Deriver``: what was concluded, without asking anybody."""
        return await self._rule.representation(known, wish)

    async def summary(self, talk: Talk) -> str | None:
        """See ``Deriver``. Raises ``AgentError`` or ``OverBudgetError``."""
        prompt = forms.summarise(talk, long=len(talk.lines) >= _LONG_TALK)
        return await self._meter.text(SUMMARY, prompt) or None

    async def answer(self, known: Known, question: Question) -> AsyncIterator[str]:
        """See ``Deriver``."""
        if not (known.card or known.conclusions or known.said or known.heard):
            return
        told = False
        try:
            if not await self._busy():
                async for piece in self._thought(known, question):
                    told = True
                    yield piece
                return
        except (AgentError, OverBudgetError) as error:
            _log.info("memory.answer_by_rule", action="answer", error=type(error).__name__)
        if not told:
            async for piece in self._rule.answer(known, question):
                yield piece

    async def _thought(self, known: Known, question: Question) -> AsyncIterator[str]:
        level = LEVELS[question.level]
        notes = await self._notes(known, question.text, level.notes)
        for _ in range(level.looks):
            found = await self._look(known, question.text, notes)
            if not found:
                break
            notes = found
        notes.sort(key=lambda each: each.at)
        prompt = forms.answer(question.text, notes, known.card, tokens=level.tokens)
        async for piece in _unless_nothing(self._meter.stream(ANSWER, prompt)):
            yield piece

    async def _look(
        self, known: Known, question: str, notes: list[Statement]
    ) -> list[Statement] | None:
        """Return more notes than there were, None where nothing more is wanted or there."""
        prompt = forms.look(question, notes, known.card)
        wanted = await self._meter.complete(ANSWER, prompt, forms.Searches)
        more = list(notes)
        for words in wanted.searches[:3]:
            found = await self._notes(known, words, _MORE, fill=False)
            more += [each for each in found if each not in more]
        return more if len(more) > len(notes) else None

    async def _notes(
        self, known: Known, query: str, limit: int, *, fill: bool = True
    ) -> list[Statement]:
        """Return what fits a query, filled up with the newest of what is known."""
        said = [each for each in (*known.said, *known.heard) if each.text.strip()]
        everything = [*known.conclusions, *said]
        fitting = await self._ranker.fitting(query, everything)
        rest = [*known.conclusions, *rules.own_sentences(known.said)] if fill else []
        return list(dict.fromkeys((*fitting[:limit], *rest)))[:limit]


async def _unless_nothing(pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield an answer, but for the word that says that nothing is known."""
    held = ""
    passed = False
    async for piece in pieces:
        if passed:
            yield piece
            continue
        held += piece
        if not forms.NOTHING.startswith(held.strip().rstrip(".").upper()):
            passed = True
            yield held
    if not passed and held.strip().rstrip(".").upper() != forms.NOTHING:
        yield held
