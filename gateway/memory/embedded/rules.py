"""Memory without a model: the person's own sentences, quoted with their date, never invented."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gateway.memory import screen
from gateway.memory.embedded.deriver import Finding, Statement
from gateway.memory.embedded.ranking import ByWords
from gateway.memory.embedded.slots import slot_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from gateway.memory.embedded.deriver import Batch, Held, Known, Line, Question, Talk, Wish
    from gateway.memory.embedded.ranking import Ranker

#: longer "sentences" are lists, logs or code
_MAX_SENTENCE = 400
_MAX_ANSWER, _NEAREST = 5, 2
#: an answer by rule keeps to lines that fit at least half as well as the best
_HALF = 0.5
#: stands for the time of a line of a card, which has none
_NEVER = datetime.min.replace(tzinfo=UTC)

_BREAK = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_QUESTION = ("?", "？")
_FIRST_PERSON = re.compile(
    r"(?<!\w)(?:i|i['’]\w+|me|my|mine|myself|we|we['’]\w+|our|ours|us"
    r"|я|мне|меня|мной|мой|моя|мо[её]|мои|моего|моей|моему|моим|моих|мою"
    r"|мы|нам|нас|наш|наша|наше|наши)(?!\w)|我|咱",
    re.IGNORECASE,
)


class ByRule:
    """The ``Deriver`` that needs no model. It works in a thread: a person may have said much."""

    def __init__(self, ranker: Ranker | None = None) -> None:
        self._ranker = ranker or ByWords()

    async def representation(self, known: Known, wish: Wish) -> str:
        """List conclusions, then what the person said of itself: matches, then the newest."""
        own = await asyncio.to_thread(own_sentences, known.said)
        concluded = await chosen(self._ranker, known.conclusions, wish, wish.limit)
        quoted = await chosen(self._ranker, own, wish, wish.limit - len(concluded))
        return "\n\n".join(
            "\n".join((heading, "", *lines))
            for heading, lines in (
                ("## Explicit Observations", [_dated(each) for each in concluded]),
                ("## In their own words", [_quoted(each) for each in quoted]),
            )
            if lines
        )

    async def answer(self, known: Known, question: Question) -> AsyncIterator[str]:
        """Yield the lines that fit the question best; none where no line does."""
        for line in await self._lines(known, question.text):
            yield f"{line}\n"

    async def summary(self, talk: Talk) -> str | None:
        """Return None: a summary cannot be made by rule."""
        return None

    async def _lines(self, known: Known, question: str) -> list[str]:
        said = await asyncio.to_thread(sentences, (*known.said, *known.heard))
        stands = {each.text.casefold() for each in known.conclusions}
        candidates = [
            *(Statement(line, _NEVER) for line in known.card if line.casefold() not in stands),
            *known.conclusions,
            *(each for each in said if each.text.casefold() not in stands),
        ]
        by_words = await ByWords().fitting(question, candidates, least=_HALF)
        # something is always the closest in meaning: it is asked where no word is shared
        fitting = by_words or (await self._ranker.fitting(question, candidates))[:_NEAREST]
        return [_shown(each) for each in fitting[:_MAX_ANSWER]]


def findings(batch: Batch) -> list[Finding]:
    """Return what a batch comes to by rule: the person's own sentences, each a conclusion.

    A sentence takes the place of an older one that answers the same question.
    """
    found: dict[str, Finding] = {}
    known = [(slot_of(each.text), each) for each in batch.known]
    for line in batch.lines:
        if line.own:
            for sentence in own_sentences([Statement(line.text, line.at)]):
                if not screen.fault(sentence.text):
                    made = _finding(sentence.text, line, known)
                    key = slot_of(made.text) or made.text.casefold()
                    # the newer one takes its place, at the end
                    found.pop(key, None)
                    found[key] = made
    return list(found.values())


def _finding(text: str, line: Line, known: Sequence[tuple[str, Held]]) -> Finding:
    slot = slot_of(text)
    replaces = tuple(each for other, each in known if slot and other == slot and each.text != text)
    return Finding(text, (line.number,), line.at, replaces, lasting=bool(slot), quoted=True)


def own_sentences(said: Iterable[Statement]) -> list[Statement]:
    """Return what people stated of themselves, newest first."""
    return [each for each in sentences(said) if _FIRST_PERSON.search(each.text)]


def sentences(said: Iterable[Statement]) -> list[Statement]:
    """Return what was stated, sentence by sentence: no questions, each once, newest first."""
    found: dict[str, Statement] = {}
    for message in said:
        for part in _BREAK.split(message.text):
            sentence = part.strip()
            if sentence and len(sentence) <= _MAX_SENTENCE and not sentence.endswith(_QUESTION):
                stated = Statement(sentence, message.at, quoted=True)
                found.setdefault(sentence.casefold(), stated)
    return list(found.values())


async def chosen(
    ranker: Ranker, newest: Sequence[Statement], wish: Wish, limit: int
) -> Sequence[Statement]:
    """Return what fits a wish best, filled up with the newest, at most ``limit``."""
    if limit <= 0 or not newest:
        return []
    if not wish.query:
        return newest[:limit]
    fitting = await ranker.fitting(wish.query, newest)
    return list(dict.fromkeys((*fitting[: wish.top_k], *newest)))[:limit]


def _shown(statement: Statement) -> str:
    if statement.at is _NEVER:
        return statement.text
    return _quoted(statement) if statement.quoted else _dated(statement)


def _dated(statement: Statement) -> str:
    text = f"“{statement.text}”" if statement.quoted else statement.text
    return f"[{statement.at:%Y-%m-%d %H:%M:%S}] {text}"


def _quoted(statement: Statement) -> str:
    return f"[{statement.at:%Y-%m-%d}] “{statement.text}”"
