"""Replies without a model: labelled, with the person's own sentences, in their language."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from gateway.agent.setup_reply import SetupAgent, known_facts, language_of
from gateway.ports import HistoryMessage, TurnRequest
from gateway.text import catalog
from tests.unit.agent.samples import MemoryLog, turn


async def reply(request: TurnRequest, language: str = "auto") -> str:
    pieces: list[str] = []
    answer = await SetupAgent(language).run(
        request, steps=MemoryLog(), emit=pieces.append, stop=asyncio.Event()
    )
    assert "".join(pieces) == answer.text
    assert answer.model == "setup"
    return answer.text


async def test_the_label_comes_first() -> None:
    assert await reply(turn("Hello?")) == catalog.text("setup.reply", "en")


async def test_it_says_what_it_stored() -> None:
    history = (
        HistoryMessage(True, "My name is Ada. Nice weather! I live in Lisbon."),
        HistoryMessage(False, "I am Hermes."),
    )
    text = await reply(turn("What is my name?", history=history))
    assert text.startswith(catalog.text("setup.reply", "en"))
    assert text.endswith("> My name is Ada. · I live in Lisbon.")


async def test_where_others_read_it_repeats_nothing() -> None:
    history = (HistoryMessage(True, "My name is Ada."),)
    assert "Ada" not in await reply(turn("Hi", history=history, shared=True))


@pytest.mark.parametrize(
    ("said", "configured", "language"),
    [
        ("Привет", "auto", "ru"),
        ("你好", "auto", "zh"),
        ("こんにちは、世界", "auto", "en"),
        ("Hi", "auto", "en"),
        ("Hi", "ru", "ru"),
    ],
)
async def test_language(said: str, configured: str, language: str) -> None:
    assert await reply(turn(said), configured) == catalog.text("setup.reply", language)
    if configured == "auto":
        assert language_of(said) == language


@pytest.mark.parametrize(
    ("texts", "facts"),
    [
        (["I like tea"], ["I like tea"]),
        (["Do I like tea?"], []),
        (["Tea is nice. Ivory too."], []),
        (["My dog is Rex", "My dog is Rex"], ["My dog is Rex"]),
        (["Меня зовут Ада! Погода хорошая."], ["Меня зовут Ада!"]),
        (["我叫小明。天气很好。"], ["我叫小明。"]),
        (
            [f"I have {number} cats" for number in range(9)],
            [f"I have {n} cats" for n in range(4, 9)],
        ),
        (["I " + "x" * 500], ["I " + "x" * 117 + "…"]),
        (["", " \n"], []),
    ],
)
def test_facts_are_own_sentences_verbatim(texts: list[str], facts: list[str]) -> None:
    assert known_facts(texts) == facts


def test_no_model_library_is_loaded_for_choosing_or_set_up() -> None:
    code = (
        "import sys, gateway.agent.build, gateway.agent.choice, gateway.agent.weights;"
        "sys.exit(any(name in sys.modules for name in ('pydantic_ai', 'openai', 'xllamacpp')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
