"""A capable model as a script: it reads the prompt it is given, and nothing else.

Facts are found by patterns in the messages of a prompt, answers in the notes of a prompt. What is
not in the prompt it does not know, so a right answer shows that the memory service brought the
fact there, and a wrong one that it brought something else.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from tests.emulators.completions import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

_DAY = r"\d{1,2} [^\W\d_]+(?: \d{4})?|\d{4}年\d{1,2}月\d{1,2}日|\d{1,2}月\d{1,2}日|\d{4}-\d\d-\d\d"


@dataclass(frozen=True, slots=True)
class Matter:
    """One thing about a person: how it is said, and how it is asked for."""

    name: str
    #: each finds the value as its group
    said: str
    asked: str


MATTERS = (
    Matter(
        "home",
        r"\bI live in ([\w ]+)|\bI (?:have )?moved to (\w+)|\bя (?:теперь )?живу в городе (\w+)"
        r"|我(?:现在)?住在([\u4e00-\u9fff]+?)了?。",
        r"person live|Где этот человек живёт|住在哪里",
    ),
    Matter(
        "job",
        r"\bI work as a ([\w ]+)|\bработаю по профессии: (\w+)|\bмоя профессия — (\w+)"
        r"|我的职业是([\u4e00-\u9fff]+)",
        r"person work as|какая профессия|职业是什么",
    ),
    Matter(
        "dog",
        r"\bmy dog is called (\w+)|\bмою собаку зовут (\w+)|我的狗叫([\u4e00-\u9fff]+)",
        r"dog called|зовут собаку|狗叫什么",
    ),
    Matter(
        "cat",
        r"\bmy cat is called (\w+)|\bмою кошку зовут (\w+)|我的猫叫([\u4e00-\u9fff]+)",
        r"cat called|зовут кошку|猫叫什么",
    ),
    Matter(
        "sister",
        r"\bmy sister is called (\w+)|\bmy sister ([A-Z]\w+)|\bмою сестру зовут (\w+)"
        r"|我的姐姐叫([\u4e00-\u9fff]+)",
        r"sister called|зовут сестру|姐姐叫什么",
    ),
    Matter(
        "colour",
        r"\bmy favourite colour is (\w+)|\bмой любимый цвет — (\w+)"
        r"|我最喜欢的颜色是([\u4e00-\u9fff]+)",
        r"favourite colour|любимый цвет|喜欢的颜色",
    ),
    Matter(
        "food",
        r"\bmy favourite food is (\w+)|\bмоя любимая еда — (\w+)|我最喜欢的菜是([\u4e00-\u9fff]+)",
        r"favourite food|любимая еда|喜欢的菜",
    ),
    Matter(
        "drink",
        r"\bin the morning I drink ((?!now)[\w ]+?)(?: now)?[.\n]"
        r"|\bпо утрам я пью ([\w ]+)|我早上喝([\u4e00-\u9fff]+)",
        r"drink in the morning|пьёт по утрам|早上喝什么",
    ),
    Matter(
        "allergy",
        r"\bI am allergic to (\w+)|\bаллергия на (\w+)|我对([\u4e00-\u9fff]+)过敏",
        r"allergic to|человека аллергия|对什么过敏",
    ),
    Matter(
        "birthday",
        rf"\bmy birthday is on ({_DAY})|\bмой день рождения ({_DAY})|我的生日是({_DAY})",
        r"person's birthday|день рождения|的生日是",
    ),
    Matter(
        "instrument",
        r"\bI play the (\w+)|\bиграю на инструменте: (\w+)|乐器是([\u4e00-\u9fff]+)",
        r"instrument|инструменте|乐器",
    ),
    Matter(
        "trip",
        rf"(?:On (?P<on>{_DAY}) I fly to \w+)|(?:({_DAY}) я лечу в город \w+)|({_DAY})我飞去",
        r"(?:When|Where) does this person fly|летит|飞",
    ),
    Matter(
        "exam",
        rf"\bmy driving test is (?:on )?(tomorrow|{_DAY})"
        rf"|(Завтра) у меня экзамен по вождению|экзамен по вождению у меня ({_DAY})"
        rf"|экзамен по вождению: ({_DAY})|(?:我)?(明天|{_DAY})我?考驾照",
        r"driving test|экзамен по вождению|考驾照",
    ),
)
_TOMORROW = {"tomorrow": "en", "завтра": "ru", "明天": "zh"}
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]?")


def answer(body: Json) -> str:
    """Return what the model says to a request."""
    asked = [text_of(each) for each in body["messages"] if each["role"] == "user"][-1]
    try:
        document = json.loads(asked)
    except ValueError:
        return "I see."
    if "conversation" in document:
        return json.dumps({"facts": list(_facts(document))}, ensure_ascii=False)
    if "so_far" in document:
        told = [f"{each['by']}: {each['text']}" for each in document["lines"][-6:]]
        return " / ".join(filter(None, [document["so_far"][-200:], *told]))
    if "Searches" in json.dumps(body.get("response_format", "")):
        return json.dumps({"searches": [] if _found(document) else [document["question"]]})
    return _found(document) or "NOTHING"


def _facts(document: Json) -> Iterator[Json]:
    known = [(each["id"], matters_of(each["text"]), each["text"]) for each in document["known"]]
    for line in document["conversation"]:
        if "id" not in line:
            continue
        for sentence in _SENTENCE.findall(line["text"]):
            for matter in matters_of(sentence):
                text = _dated(sentence.strip(), date.fromisoformat(line["at"][:10]))
                older = [id_ for id_, of, held in known if matter in of and held != text]
                yield {
                    "text": text,
                    "evidence": [line["id"]],
                    "replaces": older,
                    "lasting": matter not in ("trip", "exam"),
                }


def matters_of(sentence: str) -> list[str]:
    """Return the matters that a sentence says something about."""
    return [matter.name for matter in MATTERS if re.search(matter.said, sentence, re.IGNORECASE)]


def _dated(sentence: str, said: date) -> str:
    """Return a sentence with the day that "tomorrow" was."""
    day = said + timedelta(days=1)
    for word, language in _TOMORROW.items():
        if language == "en":
            sentence = re.sub(rf"\b{word}\b", f"on {day.isoformat()}", sentence)
        elif word in sentence.casefold():
            rest = "Экзамен по вождению: {}" if language == "ru" else "我{}考驾照。"
            return rest.format(day.isoformat())
    return sentence


def _found(document: Json) -> str:
    """Return what the notes say of the matter, all of it: what is outdated shows, too.

    Without a note it goes by what was said, "" where that is nothing either.
    """
    matter = next(
        (one for one in MATTERS if re.search(one.asked, document["question"], re.IGNORECASE)), None
    )
    if matter is None:
        return ""
    notes = [*document["card"], *(each.get("note", "") for each in document["notes"])]
    said = [each.get("said", "") for each in document["notes"]]
    return "; ".join(_about(matter, notes) or _about(matter, said))


def _about(matter: Matter, texts: list[str]) -> list[str]:
    found = [sentence for text in texts for sentence in _SENTENCE.findall(text)]
    fitting = [each.strip() for each in found if re.search(matter.said, each, re.IGNORECASE)]
    return list(dict.fromkeys(fitting))
