"""Fresh start without any account: who tells something is known in the next session and on the
next app, and nobody else is told.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from gateway import app
from gateway.agent.build import build_agent, build_completer
from gateway.agent.choice import Choice, Kind
from gateway.agent.prompt import Persona
from gateway.settings.schema import ModelSettings
from tests.emulators.completions import text_of
from tests.emulators.openai import ModelStub
from tests.eval import stub
from tests.fakes.household import MIRA, TOBIAS
from tests.integration.pipeline.support import House

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.emulators.telegram import TelegramEmulator
    from tests.fakes.agent import ScriptedAgent

FACTS = ("My name is Mira.", "I live in Porto.", "My dog is called Rex.")


class Knowing(House):
    """A home on the embedded memory whose model is able to think."""

    stub: ModelStub

    def assemble(self, *, platforms: bool = True) -> app.Gateway:
        """Put a gateway together as the command does, with its model."""
        choice = Choice(Kind.OPENAI, name=self.stub.models[0], base_url=self.stub.base_url)
        settings = ModelSettings()
        start = app.Start(
            self.home,
            app.load(self.home, {}),
            lambda tools: build_agent(choice, settings, {}, Persona(), tools=tools),
            make_completer=lambda: build_completer(choice, settings, {}),
            platforms=platforms,
            clock=self.clock,
        )
        return app.assemble(start)

    def prompts(self) -> list[str]:
        """Return the last message of each turn's request, as the model saw it."""
        last = [text_of(body["messages"][-1]) for body in self.stub.requests]
        return [text for text in last if not text.startswith("{")]

    def concluded(self) -> set[tuple[str, str, str]]:
        """Return (observer, observed, text) of what is concluded."""
        return set(
            self.rows(
                "SELECT p.observer, p.observed, c.content FROM memory_conclusion c"
                " JOIN memory_pair p ON p.id = c.pair WHERE c.origin = 'model'"
            )
        )


@pytest.fixture
async def knowing(
    tmp_path: Path, tg: TelegramEmulator, agent: ScriptedAgent, empty_database: Path
) -> AsyncIterator[Knowing]:
    async with ModelStub() as model:
        house = Knowing(tmp_path, tg, agent)
        house.stub = model
        model.reply(_answer)
        house.home.gateway.mkdir(mode=0o700)
        shutil.copy(empty_database, house.home.database)
        house.configure(
            model={"base_url": model.base_url, "name": model.models[0]},
            embeddings={"provider": "off"},
        )
        house.honcho(peerName="mira", userPeerAliases={f"telegram:{MIRA}": "mira"})
        yield house


def _answer(body: dict[str, Any]) -> str:
    asked = text_of(body["messages"][-1])
    return stub.answer(body) if asked.startswith("{") else "All right."


async def console(house: Knowing, *lines: str) -> str:
    """Say lines to the command on a pipe; return what it answered."""
    home = {"HERMES_HOME": str(house.home.path), "HOME": str(house.home.user)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway.cli.main", "chat"),
        env={**os.environ, **home, "HERMES_MODELS": str(house.home.user)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said = "".join(f"{line}\n" for line in lines).encode()
    out, err = await asyncio.wait_for(process.communicate(said), 60)
    assert process.returncode == 0, err.decode()
    return out.decode()


async def test_known_in_the_next_session_and_on_the_next_app(
    knowing: Knowing, tg: TelegramEmulator
) -> None:
    await console(knowing, *FACTS, "/new", "What do you know of me?")
    asked = knowing.prompts()[-1]
    assert asked.startswith("What do you know of me?")
    assert [fact for fact in FACTS if fact in asked] == list(FACTS)

    async with knowing.running():
        tg.say("Hello from my phone", user=MIRA)
        await knowing.answers(1)
        tg.say("Who has a dog here?", user=TOBIAS)
        await knowing.answers(1, TOBIAS)
        await knowing.until(
            lambda: {text for _, _, text in knowing.concluded()} >= set(FACTS[1:]), "conclusions"
        )
    mine, theirs = knowing.prompts()[-2:]
    assert mine.startswith("Hello from my phone")
    assert [fact for fact in FACTS if fact in mine] == list(FACTS)
    assert theirs.startswith("Who has a dog here?")
    assert not [fact for fact in FACTS if fact in theirs]
    assert {(watching, who) for watching, who, _ in knowing.concluded()} == {
        ("hermes", "mira"),
        ("mira", "mira"),
    }
