"""Memory without a model: the person's own sentences, quoted with their date, never invented."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from gateway.memory.embedded import words
from gateway.memory.embedded.deriver import Statement

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from gateway.memory.embedded.deriver import Known, Question, Talk, Wish

#: longer "sentences" are lists, logs or code
_MAX_SENTENCE = 400
_MAX_ANSWER = 5

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

    async def representation(self, known: Known, wish: Wish) -> str:
        """List conclusions, then what the person said of itself: matches, then the newest."""
        return await asyncio.to_thread(_represent, known, wish)

    async def answer(self, known: Known, question: Question) -> AsyncIterator[str]:
        """Yield the lines that hold most of the question's words; none where no line does."""
        for line in await asyncio.to_thread(_answer, known, question.text):
            yield f"{line}\n"

    async def summary(self, talk: Talk) -> str | None:
        """Return None: a summary cannot be made by rule."""
        return None


def _represent(known: Known, wish: Wish) -> str:
    own = (each for each in sentences(known.said) if _FIRST_PERSON.search(each.text))
    concluded = _chosen(known.conclusions, wish, wish.limit)
    quoted = _chosen(own, wish, wish.limit - len(concluded))
    return "\n\n".join(
        "\n".join((heading, "", *lines))
        for heading, lines in (
            ("## Explicit Observations", [_dated(each) for each in concluded]),
            ("## In their own words", [_quoted(each) for each in quoted]),
        )
        if lines
    )


def _answer(known: Known, question: str) -> list[str]:
    asked = words.query(question)
    lines = [
        *((asked.count(line), line) for line in known.card),
        *((asked.count(each.text), _dated(each)) for each in known.conclusions),
        *((asked.count(each.text), _quoted(each)) for each in sentences(known.said)),
    ]
    best = max((count for count, _ in lines), default=0)
    fitting = [line for line in lines if line[0] and 2 * line[0] >= best]
    fitting.sort(key=lambda line: -line[0])
    return [line for _, line in fitting[:_MAX_ANSWER]]


def sentences(said: Iterable[Statement]) -> list[Statement]:
    """Return what was stated, sentence by sentence: no questions, each once, newest first."""
    found: dict[str, Statement] = {}
    for message in said:
        for part in _BREAK.split(message.text):
            sentence = part.strip()
            if sentence and len(sentence) <= _MAX_SENTENCE and not sentence.endswith(_QUESTION):
                found.setdefault(sentence.casefold(), Statement(sentence, message.at))
    return list(found.values())


def _chosen(statements: Iterable[Statement], wish: Wish, limit: int) -> Sequence[Statement]:
    newest = list(statements)
    if not wish.query:
        return newest[:limit]
    asked = words.query(wish.query)
    fitting = [each for each in newest if asked.count(each.text)]
    fitting.sort(key=lambda each: -asked.count(each.text))
    return list(dict.fromkeys((*fitting[: wish.top_k], *newest)))[:limit]


def _dated(statement: Statement) -> str:
    return f"[{statement.at:%Y-%m-%d %H:%M:%S}] {statement.text}"


def _quoted(statement: Statement) -> str:
    return f"[{statement.at:%Y-%m-%d}] “{statement.text}”"
