"""What answers while there is no model: labelled replies that show what was stored, by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex

from gateway.ports import Answer
from gateway.text import catalog
from gateway.text.clean import blank, one_line

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable

    from gateway.ports import StepLog, TurnRequest

_FACT_LIMIT = 120
_FACTS = 5
#: a person's sentence about themselves; each language by its own first person
_FIRST_PERSON = regex.compile(
    r"\b(?:I|I'm|my|mine|me)\b|\b(?:я|меня|мне|мной|мой|моя|моё|мое|мои|мою|моего|моей)\b|我",
    regex.IGNORECASE,
)
_SENTENCE = regex.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_QUESTION = regex.compile(r"[?？]\s*$")


class SetupAgent:
    """``gateway.ports.Agent`` without any model."""

    def __init__(self, language: str = "auto") -> None:
        """``language``: of the catalogue, or ``auto`` to follow the person's script."""
        self._language = language

    async def run(
        self,
        request: TurnRequest,
        *,
        steps: StepLog,
        emit: Callable[[str], None],
        stop: asyncio.Event,
    ) -> Answer:
        """Say that there is no model, and what of the person's own words is stored."""
        said = [one.text for one in request.spoken]
        language = self._language if self._language != "auto" else language_of(" ".join(said))
        parts = [catalog.text("setup.reply", language)]
        earlier = (one.text for one in request.history if one.from_user)
        if not request.shared and (facts := known_facts([*earlier, *said])):
            parts.append(catalog.text("setup.known", language, facts=" · ".join(facts)))
        text = "\n\n".join(parts)
        emit(text)
        return Answer(text, model="setup")

    async def aclose(self) -> None:
        """Nothing is held."""


def known_facts(texts: Iterable[str]) -> list[str]:
    """Return the newest sentences in the first person, verbatim, oldest first, each once."""
    found: dict[str, None] = {}
    for text in texts:
        for sentence in _SENTENCE.findall(text):
            if _FIRST_PERSON.search(sentence) and not _QUESTION.search(sentence):
                fact = one_line(sentence, _FACT_LIMIT)
                found.pop(fact, None)
                found[fact] = None
    return [fact for fact in found if not blank(fact)][-_FACTS:]


def language_of(text: str) -> str:
    """Guess the catalogue's language by the script in which somebody writes."""
    if regex.search(r"\p{Cyrillic}", text):
        return "ru"
    if regex.search(r"\p{Han}", text) and not regex.search(r"[\p{Hiragana}\p{Katakana}]", text):
        return "zh"
    return catalog.DEFAULT_LANGUAGE
