"""What ``trace`` says of recall: which layers, how old, what they cost; never their text."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from gateway.cli.main import cli
from gateway.text.counted import counted
from tests.emulators.honcho_proxy import ALWAYS, CHAT
from tests.fakes.household import MIRA
from tests.integration.memory.whole import Whole, upstream
from tests.integration.pipeline import conftest as pipeline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.emulators.telegram import TelegramEmulator

tg = pipeline.tg
Json = dict[str, Any]


@pytest.fixture
async def house(
    tmp_path: Path, tg: TelegramEmulator, template: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Whole]:
    async with upstream(tmp_path, template) as service:
        house = Whole(tmp_path, tg, service, database=template)
        monkeypatch.setenv("HERMES_HOME", str(house.home.path))
        yield house


async def trace(house: Whole) -> tuple[str, list[Json]]:
    """Return what the command says of the last turn, as text and as data."""
    turn = house.column("SELECT id FROM turn ORDER BY id DESC LIMIT 1")[0]
    invoke = CliRunner().invoke
    text = await asyncio.to_thread(invoke, cli, ["trace"])
    data = await asyncio.to_thread(invoke, cli, ["trace", turn, "--json"])
    assert (text.exit_code, data.exit_code) == (0, 0), text.output
    return text.output, json.loads(data.output)["recall"]


async def test_layers_with_their_size_and_age(house: Whole) -> None:
    house.honcho(contextCadence=5)
    async with house.running():
        for text in ("I have a dog called Rex.", "He is six.", "And hungry.", "Who is hungry?"):
            await house.ask(text)
    recall = house.agent.runs[-1].request.recall
    said, layers = await trace(house)
    base = next(layer for layer in layers if layer["name"] == "base")
    assert 0 < base["chars"] < len(recall)
    assert base["age"] in (2, 3), "it was fetched behind the first turn or the second"
    assert base["waited"] == 0
    assert (
        f"recalled     base: {base['chars']} characters, {counted(base['age'], 'turn')} old\n"
        in said
    )
    assert "Rex" not in said


async def test_a_layer_that_was_waited_for_in_vain(house: Whole) -> None:
    house.proxy.slow("", 40, times=ALWAYS)
    async with house.running():
        house.clock.held = True
        house.tg.say("hello there", user=MIRA)
        await house.until(lambda: {2.0, 3.0} <= set(house.clock.pauses), "recall waits")
        await house.clock.let_pass(3.0)
        await house.until_committed(1)
        house.clock.held = False
    said, layers = await trace(house)
    assert layers == [
        {"name": "base", "chars": 0, "age": 0, "waited": 3.0},
        {"name": "dialectic", "chars": 0, "age": 0, "waited": 2.0},
    ]
    assert "recalled     base: nothing, waited 3.0 s\n" in said
    assert "recalled     dialectic: nothing, waited 2.0 s\n" in said


async def test_a_turn_without_recall_says_nothing_of_it(house: Whole) -> None:
    house.honcho(recallMode="tools")
    async with house.running():
        await house.ask("hello there")
    said, layers = await trace(house)
    assert layers == []
    assert "recalled" not in said
    assert not house.proxy.matching(CHAT)
