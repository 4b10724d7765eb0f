"""How hard the memory service is asked to think, and when it is asked again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Level = Literal["minimal", "low", "medium", "high", "max"]

LEVELS: tuple[Level, ...] = ("minimal", "low", "medium", "high", "max")
#: (characters, steps up) of the query-length rule
_BUMPS = ((400, 2), (120, 1))
#: an answer of this length needs no further pass, with structure a third of it will do
_LONG, _STRUCTURED = 300, 100
_STRUCTURE = re.compile(r"^\s*(?:#{1,6}\s|[-*•]\s|\d{1,3}[.)]\s)", re.MULTILINE)
#: the widest cadence, as a multiple of the configured one
_WIDEST = 8


@dataclass(frozen=True, slots=True)
class DialecticRules:
    """The dialectic keys of the configuration."""

    cadence: int
    depth: int
    level: Level
    #: one level for each pass, used as they are; None: proportional to ``level``
    levels: tuple[Level, ...] | None
    heuristic: bool
    cap: Level


@dataclass(frozen=True, slots=True)
class Cadence:
    """What is remembered between the questions about one person in one session."""

    #: that person's turn after which the last good answer was fetched; None: never
    last: int | None = None
    #: empty answers since then
    empties: int = 0


def raised(base: Level, cap: Level, query: str) -> Level:
    """Return ``base`` raised by the query's length, at most to ``cap`` and never to max."""
    bump = next((steps for length, steps in _BUMPS if len(query) >= length), 0)
    at, ceiling = LEVELS.index(base), min(LEVELS.index(cap), LEVELS.index("high"))
    return base if at >= ceiling else LEVELS[min(at + bump, ceiling)]


def levels(rules: DialecticRules, query: str) -> tuple[Level, ...]:
    """Return the level of each pass."""
    if rules.levels is not None:
        return rules.levels[: rules.depth]
    base = raised(rules.level, rules.cap, query) if rules.heuristic else rules.level
    if rules.depth == 1:
        return (base,)
    return ("minimal", *(base for _ in range(rules.depth - 1)))


def enough(answer: str) -> bool:
    """Tell whether an answer is strong enough to skip the passes that remain."""
    text = answer.strip()
    if len(text) > _LONG:
        return True
    return len(text) >= _STRUCTURED and _STRUCTURE.search(text) is not None


def due(rules: DialecticRules, state: Cadence, turn: int) -> bool:
    """Tell whether to ask after the person's ``turn``-th turn (1 is the first).

    Empty answers widen the cadence, one step each; a good one snaps it back.
    """
    if state.last is None and state.empties == 0:
        return True
    effective = min(rules.cadence + state.empties, _WIDEST * rules.cadence)
    return turn - (state.last or 0) >= effective


def after(state: Cadence, turn: int, answer: str | None) -> Cadence:
    """Return the state after an answer; None: the call failed, which changes nothing."""
    if answer is None:
        return state
    if not answer.strip():
        return Cadence(turn, state.empties + 1)
    return Cadence(turn, 0)


def fresh(fetched: int, turn: int, *, limit: int) -> bool:
    """Tell whether what was fetched after turn ``fetched`` may still be used in ``turn``."""
    return turn - fetched <= limit


_ENGLISH = (
    "ok okay k yes no yep nope sure thanks thank you thx cool nice great good lol hi hello hey bye"
)
_RUSSIAN = "да нет ок окей ага угу спасибо спс привет пока хорошо ладно понятно ясно"
_CHINESE = "好 好的 嗯 是 不 不是 谢谢 你好 再见 行 可以 哈哈 知道了"
_TRIVIAL = frozenset(f"{_ENGLISH} {_RUSSIAN} {_CHINESE}".split())
_WORDS = re.compile(r"[^\W_]+")


def trivial(text: str) -> bool:
    """Tell whether a message is too slight to ask the memory service about."""
    stripped = text.strip()
    if not stripped or stripped.startswith("/"):
        return True
    words: Sequence[str] = _WORDS.findall(stripped.lower())
    return len(words) <= 3 and all(word in _TRIVIAL for word in words)
