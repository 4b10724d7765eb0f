"""Which question about a person a sentence of theirs answers, where only one answer can hold.

By rule, in English, Russian and Chinese: "I live in Porto" and "I moved to Graz" are about the
same thing, so the newer one takes the place of the older. A sentence that no rule knows answers
nothing, and then nothing is replaced. Pure.
"""

from __future__ import annotations

import re

_ARTICLE = r"(?:(?:a|an|the|my|our)\s+)?"
_CALLED = r"(?:is|'s|’s|was|are)?\s*(?:called|named)\s"
_NOUN = r"(?P<noun>[^\W\d_]+(?:\s[^\W\d_]+){0,2}?)"
_RU_NOUN = r"(?P<noun>[^\W\d_]+(?:\s[^\W\d_]+)?)"
_ZH_NOUN = r"(?P<noun>[\u4e00-\u9fff]{1,6}?)"

#: slot → shapes; a ``noun`` that is found makes it the slot of that thing
_SHAPES: tuple[tuple[str, str], ...] = (
    ("name", r"\bmy name(?:\s+is|'s|’s)\s|\bcall me\s|\bменя зовут\s|我(?:的名字)?叫|我的名字是"),
    (
        "home",
        r"\bi(?:['’](?:m|ve)| am| have)?\s(?:\w+\s){0,2}?(?:live|living|moved|moving|settled)\s"
        r"(?:\w+\s){0,3}?(?:in|to|into|at)\s"
        r"|\bя\s(?:[^\W\d_]+\s){0,2}?(?:живу|переехал[аи]?|переезжаю|перебрал(?:ся|ась))\s"
        r"(?:[^\W\d_]+\s){0,2}?(?:в|во|на)\s"
        r"|我(?:现在|已经|们|刚|就)*(?:住在|搬到|搬去|搬家到)",
    ),
    (
        "work",
        r"\bi(?:'m|’m| am)?\s(?:\w+\s){0,2}?(?:work(?:ing)?|started)\s"
        r"(?:\w+\s){0,2}?(?:as|at|for)\s"
        r"|\bmy (?:new )?job is\s"
        r"|\bя\s(?:[^\W\d_]+\s){0,2}?(?:работаю|устроил(?:ся|ась))\s"
        r"|我(?:现在|已经)*(?:在.{1,12}(?:工作|上班)|是一[名位]|当了?)",
    ),
    (
        "age",
        r"\bi(?:'m|’m| am)\s\d{1,3}(?:\s+years|\b\s*[.!,]?$)|\bмне\s\d{1,3}\s|我今年?\d{1,3}岁",
    ),
    (
        "birthday",
        r"\bmy birthday\b|\bi was born\b|\bмой день рождения\b|\bя родил(?:ся|ась)\b"
        r"|我的生日|我出生",
    ),
    (
        "favourite",
        rf"\bmy favou?rite {_NOUN}\s(?:is|are|was|'s)\b"
        rf"|\b(?:мо[йяё]|мои|мое) любим(?:ый|ая|ое|ые) {_RU_NOUN}\s*[—–-]"
        rf"|我最(?:喜欢|爱)的{_ZH_NOUN}是",
    ),
    (
        "called",
        rf"\b(?:my|our) {_NOUN}\s*{_CALLED}|\b(?:my|our) {_NOUN}(?:'s|’s) name is\s"
        rf"|\bi have {_ARTICLE}{_NOUN}\s*(?:called|named)\s"
        rf"|\b(?:моего|мою|моих|нашу|нашего) {_RU_NOUN} зовут\s"
        rf"|\b(?:мой|моя) {_RU_NOUN} по кличке\s"
        rf"|我(?:家)?的?{_ZH_NOUN}(?:名字)?叫",
    ),
)


def _compiled(shape: str) -> re.Pattern[str]:
    # one group may have one name: the alternatives' are numbered
    number = iter(range(9))
    named = re.sub(r"\?P<noun>", lambda _: f"?P<noun{next(number)}>", shape)
    return re.compile(named, re.IGNORECASE)


_RULES = tuple((slot, _compiled(shape)) for slot, shape in _SHAPES)
#: what is denied is no answer to the question
_DENIED = re.compile(
    r"\b(?:not|never|no longer|used to|don['’]t|would|could|might|want|wish|if|не|бы|если|хочу)\b"
    r"|不|没有|以前|曾经|要是|如果|想",
    re.IGNORECASE,
)


def slot_of(sentence: str) -> str:
    """Return the name of the one-answer question that a sentence answers, "" where none."""
    for slot, shape in _RULES:
        found = shape.search(sentence)
        if found is None or _DENIED.search(sentence[: found.end()]):
            continue
        noun = next(filter(None, found.groupdict().values()), "")
        return f"{slot} {noun.casefold()}" if noun else slot
    return ""
