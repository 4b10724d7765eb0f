"""Right or wrong, by rule: what an answer has to hold, and what it must not."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parent / "people"
LANGUAGES = ("en", "ru", "zh")
#: who listens everywhere
AGENT = "hermes"

#: what somebody says who does not know
_UNKNOWN = re.compile(
    r"\b(?:nothing|not|no|unknown|unclear|don't|doesn't|never)\b"
    r"|\b(?:не|нет|неизвестно|ничего|никогда)\b|不|没|未|无",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation: who said what."""

    id: str
    at: datetime
    lines: tuple[tuple[str, str], ...]

    @property
    def people(self) -> list[str]:
        """Those who spoke, but for the agent."""
        return sorted({who for who, _ in self.lines} - {AGENT})


@dataclass(frozen=True, slots=True)
class Question:
    """One question about one person, and how its answer is judged."""

    about: str
    kind: str
    ask: str
    language: str
    #: one of these has to be there; none: it was never said
    accept: tuple[str, ...] = ()
    #: what held before: must not be there, or only behind what holds
    older: str = ""
    #: what others said of themselves: must not be there
    foreign: tuple[str, ...] = ()


@dataclass(slots=True)
class Data:
    """All sessions in the order in which they happened, and all questions."""

    sessions: list[Session] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def load(languages: Iterable[str] = LANGUAGES, *, people: int | None = None) -> Data:
    """Read the data; ``people``: only so many of each language, with whoever they talked to."""
    data = Data()
    for language in languages:
        raw = YAML(typ="safe").load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
        names = list(dict.fromkeys(each["about"] for each in raw["questions"]))[:people]
        sessions = [_session(each) for each in raw["sessions"]]
        data.sessions += [each for each in sessions if set(each.people) & set(names)]
        data.questions += [
            _question(each, language) for each in raw["questions"] if each["about"] in names
        ]
    data.sessions.sort(key=lambda each: each.at)
    return data


def _session(raw: dict[str, Any]) -> Session:
    lines = tuple((who, text) for line in raw["lines"] for who, text in line.items())
    return Session(raw["id"], datetime.fromisoformat(raw["at"]), lines)


def _question(raw: dict[str, Any], language: str) -> Question:
    lists = {name: tuple(raw.get(name, ())) for name in ("accept", "foreign")}
    about, kind, ask = raw["about"], raw["kind"], raw["ask"]
    return Question(about, kind, ask, language, older=raw.get("older", ""), **lists)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer was worth. ``fault``: "" where it was right."""

    question: Question
    answer: str
    fault: str


def judge(question: Question, answer: str) -> Verdict:
    """Judge one answer."""
    return Verdict(question, answer, _fault(question, answer.casefold()))


def _fault(question: Question, answer: str) -> str:
    if any(_holds(answer, other) for other in question.foreign):
        return "somebody else's"
    if not question.accept:
        return "" if not answer.strip() or _UNKNOWN.search(answer) else "invented"
    places = [answer.find(each.casefold()) for each in question.accept if _holds(answer, each)]
    if not places:
        return "outdated" if _holds(answer, question.older) else "missing"
    older = answer.find(question.older.casefold()) if _holds(answer, question.older) else -1
    return "outdated" if 0 <= older < min(places) else ""


def _holds(answer: str, value: str) -> bool:
    """Tell whether an answer holds a value as words of its own; Chinese has no gaps."""
    if not value:
        return False
    text = re.escape(value.casefold())
    if value.isascii():
        text = rf"(?<![a-z0-9]){text}(?![a-z0-9])"
    elif re.search(r"[а-яё]", value, re.IGNORECASE):
        text = rf"(?<!\w){text}(?!\w)"
    return re.search(text, answer) is not None


def table(verdicts: list[Verdict]) -> str:
    """Return the figures as lines: by kind, by language, and what went wrong."""
    lines = [f"{'':14}right  of"]
    for name in ("kind", "language"):
        every = Counter(getattr(each.question, name) for each in verdicts)
        right = Counter(getattr(each.question, name) for each in verdicts if not each.fault)
        lines += [f"{each:14}{right[each]:5} {every[each]:4}" for each in every]
    good = sum(not each.fault for each in verdicts)
    lines.append(f"{'all':14}{good:5} {len(verdicts):4}  {good / max(len(verdicts), 1):.1%}")
    faults = Counter(each.fault for each in verdicts if each.fault)
    lines.append("faults: " + (", ".join(f"{n} {what}" for what, n in faults.items()) or "none"))
    return "\n".join(lines)
