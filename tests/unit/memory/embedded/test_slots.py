"""Which sentences are about the same thing, so that the newer one holds."""

from __future__ import annotations

import pytest

from gateway.memory.embedded.slots import slot_of


@pytest.mark.parametrize(
    ("sentence", "slot"),
    [
        ("My name is Ada.", "name"),
        ("Call me Ada.", "name"),
        ("Меня зовут Анна.", "name"),
        ("我叫李明。", "name"),
        ("I live in Porto.", "home"),
        ("These days I live in Porto.", "home"),
        ("I've just moved to Graz last week.", "home"),
        ("I'm moving to Oslo.", "home"),
        ("Я теперь живу в Граце.", "home"),
        ("Я переехала в Грац.", "home"),
        ("我搬到北京了。", "home"),
        ("我现在住在上海。", "home"),
        ("I work as a nurse.", "work"),
        ("Я работаю врачом.", "work"),
        ("我在银行工作。", "work"),
        ("I'm 41 years old.", "age"),
        ("Мне 41 год.", "age"),
        ("我今年41岁。", "age"),
        ("My birthday is on 4 May.", "birthday"),
        ("Мой день рождения 4 мая.", "birthday"),
        ("我的生日是5月4日。", "birthday"),
        ("My favourite colour is green.", "favourite colour"),
        ("Мой любимый цвет — зелёный.", "favourite цвет"),
        ("我最喜欢的颜色是绿色。", "favourite 颜色"),
        ("My dog is called Rex.", "called dog"),
        ("My dog's name is Rex.", "called dog"),
        ("I have a dog named Rex.", "called dog"),
        ("My other dog is called Tom.", "called other dog"),
        ("Мою собаку зовут Рекс.", "called собаку"),
        ("我的狗叫小白。", "called 狗"),
    ],
)
def test_one_answer_questions(sentence: str, slot: str) -> None:
    assert slot_of(sentence) == slot


@pytest.mark.parametrize(
    "sentence",
    [
        "I used to live in Rome.",
        "I don't live in Rome.",
        "I no longer work as a nurse.",
        "Я больше не живу в Риме.",
        "我不住在罗马。",
        "我以前住在罗马。",
        "My friend lives in Rome.",
        "If I were rich, I would live in Monaco.",
        "I like tea.",
        "I live.",
        "Tea is nice.",
        "",
    ],
)
def test_no_answer(sentence: str) -> None:
    assert slot_of(sentence) == ""
