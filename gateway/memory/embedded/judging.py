"""What of a model's findings is believed: pure checks of a form against what was shown to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gateway.memory import screen
from gateway.memory.embedded import words
from gateway.memory.embedded.deriver import Finding
from gateway.text.clean import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.memory.embedded.deriver import Batch, Held, Line
    from gateway.memory.embedded.forms import Fact, Facts

#: longer "facts" are copies of what was said, or worse
MOST_CHARACTERS = 400
#: facts of one batch
MOST_FACTS = 20
#: messages up to so many words may be answers that only their question explains
_ANSWER_WORDS = 6
_WORD = re.compile(r"\w+")


def judge(batch: Batch, shown: Sequence[Held], form: Facts) -> list[Finding]:
    """Return the findings that stand; those without evidence in the batch do not."""
    found: dict[str, Finding] = {}
    held = {each.text.casefold() for each in batch.known}
    for fact in form.facts[:MOST_FACTS]:
        made = _finding(batch, shown, fact)
        if made is not None and (made.text.casefold() not in held or made.replaces):
            found.setdefault(made.text.casefold(), made)
    return list(found.values())


def _finding(batch: Batch, shown: Sequence[Held], fact: Fact) -> Finding | None:
    text = " ".join(clean(fact.text).split())
    lines = [batch.lines[number] for number in _numbers("m", fact.evidence, len(batch.lines))]
    own = [line for line in lines if line.own]
    if not 0 < len(text) <= MOST_CHARACTERS or not own:
        return None
    if screen.fault(text) or not _grounded(text, own, batch):
        return None
    newest = max(line.at for line in own)
    replaces = [shown[number] for number in _numbers("k", fact.replaces, len(shown))]
    return Finding(
        text,
        tuple(line.number for line in own),
        newest,
        tuple(each for each in replaces if each.text != text),
        lasting=fact.lasting,
    )


def _numbers(letter: str, ids: Sequence[str], count: int) -> list[int]:
    """Return the positions that ids of a prompt name, without those that it did not hold."""
    found = (re.fullmatch(rf"\s*{letter}(\d{{1,4}})\s*", each) for each in ids)
    numbers = (int(each[1]) - 1 for each in found if each)
    return [number for number in dict.fromkeys(numbers) if 0 <= number < count]


def _grounded(text: str, own: Sequence[Line], batch: Batch) -> bool:
    """Tell whether a fact speaks of what its evidence speaks of, not of what others said.

    A short answer ("Rex.") is explained by the question before it, whose words may be used.
    """
    said = " ".join(line.text for line in own)
    asked = words.query(text)
    in_evidence = set(asked.which(said))
    others = " ".join(f"{line.author}: {line.text}" for line in batch.lines if not line.own)
    only_theirs = set(asked.which(others)) - in_evidence
    if len(_WORD.findall(said)) <= _ANSWER_WORDS:
        return bool(in_evidence) or not only_theirs
    return len(in_evidence) > len(only_theirs)
