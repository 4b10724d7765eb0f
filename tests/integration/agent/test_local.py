"""The child process of the local model: its life, its deaths, its key; and the real model."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import psutil
import pytest

from gateway.agent import local, small
from gateway.agent.build import build_agent
from gateway.agent.choice import Choice, Kind
from gateway.agent.local import LocalServer
from gateway.agent.models import LocalModel
from gateway.agent.prompt import Persona, compose, tokens
from gateway.agent.run import ModelAgent
from gateway.agent.weights import SMALL, Installed, WeightStore, default_folder
from gateway.model.errors import AgentError, Disposition
from gateway.ports import HistoryMessage
from gateway.settings.schema import ModelSettings
from tests.unit.agent.samples import ask, talk, turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LIBRARY = Path(__file__).parent / "library"


@pytest.fixture(autouse=True)
def _library_of_the_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "weights" not in request.keywords:
        monkeypatch.setenv("PYTHONPATH", str(LIBRARY))


def weights(folder: Path, content: str = "GGUF") -> Installed:
    path = folder / "tiny.gguf"
    path.write_text(content)
    return Installed("tiny", "0" * 64, 4, "none", "a test", path)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[LocalServer]:
    made = LocalServer(weights(tmp_path))
    yield made
    await made.aclose()


@pytest.fixture
async def agent(server: LocalServer) -> AsyncIterator[ModelAgent]:
    made = ModelAgent(LocalModel(server), Persona(), layout=small.layout(1000, name="Hermes"))
    yield made
    await made.aclose()


async def test_it_is_started_at_the_first_use_and_kept(
    server: LocalServer, agent: ModelAgent
) -> None:
    assert server.pid is None
    answer = await ask(agent, "Hi")
    assert '"Hi"]' in answer.text
    assert answer.model == "local:tiny"
    pid = server.pid
    await ask(agent, "Hi")
    assert server.pid == pid is not None


async def test_nobody_else_can_use_it_and_the_key_is_not_in_its_command(
    server: LocalServer,
) -> None:
    address = await server.address()
    async with httpx.AsyncClient(trust_env=False) as client:
        body = {"messages": [{"role": "user", "content": "Hi"}]}
        response = await client.post(f"{address}/v1/chat/completions", json=body)
    assert response.status_code == 401
    assert server.pid is not None
    assert server.key not in " ".join(psutil.Process(server.pid).cmdline())


async def test_a_crash_costs_one_try_and_the_next_one_works(
    server: LocalServer, agent: ModelAgent
) -> None:
    await ask(agent, "Hi")
    pid = server.pid
    with pytest.raises(AgentError) as caught:
        await ask(agent, "die")
    assert caught.value.disposition is Disposition.RETRY
    assert (await ask(agent, "Hi")).text
    assert server.pid not in (pid, None)


async def test_a_model_that_crashes_again_and_again_is_left_alone(agent: ModelAgent) -> None:
    for _ in range(3):
        with pytest.raises(AgentError):
            await ask(agent, "die")
    with pytest.raises(AgentError, match="crashes again and again") as caught:
        await ask(agent, "Hi")
    assert caught.value.user_text == "failed.unavailable"


async def test_weights_that_cannot_be_loaded_are_named(tmp_path: Path) -> None:
    server = LocalServer(weights(tmp_path, "crash"))
    with pytest.raises(AgentError, match=r"tiny cannot be used: .* ended with code 3") as caught:
        await server.address()
    assert caught.value.disposition is Disposition.GIVE_UP
    assert server.pid is None


async def test_a_child_that_never_gets_ready_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_START_TIMEOUT", 0.3)
    monkeypatch.setattr(local, "_GRACE", 0.1)
    server = LocalServer(weights(tmp_path, "mute"))
    with pytest.raises(AgentError, match=r"not ready after 0\.3 s"):
        await server.address()
    assert server.pid is None


async def test_closing_ends_the_child(server: LocalServer) -> None:
    await server.address()
    process = psutil.Process(server.pid)
    await server.aclose()
    assert not process.is_running()


def _wait_for_child(others: set[psutil.Process]) -> psutil.Process:
    while not (children := set(psutil.Process().children()) - others):
        time.sleep(0.01)
    return children.pop()


async def test_stopping_a_start_leaves_no_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_GRACE", 0.1)
    server = LocalServer(weights(tmp_path, "mute"))
    others = set(psutil.Process().children())
    start = asyncio.create_task(server.address())
    child = await asyncio.to_thread(_wait_for_child, others)
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert not child.is_running()


PARENT = """
import asyncio, sys
from contextlib import redirect_stdout
from pathlib import Path
from gateway.agent.local import LocalServer
from gateway.agent.weights import Installed

async def main():
    server = LocalServer(Installed("tiny", "0" * 64, 4, "none", "a test", Path(sys.argv[1])))
    with redirect_stdout(None):  # its log
        await server.address()
    print("child", server.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_killed_gateway_leaves_no_child(tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PARENT,
        str(weights(tmp_path).path),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(LIBRARY), str(Path.cwd())])},
    )
    assert parent.stdout is not None
    child = psutil.Process(int((await parent.stdout.readline()).split()[-1]))
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    gone, _ = await asyncio.to_thread(psutil.wait_procs, [child], timeout=10)
    assert gone


def test_the_prompt_of_a_small_model_is_small() -> None:
    request = turn(
        "What is my name?", history=talk(*("word " * 50 for _ in range(60))), recall="fact " * 900
    )
    persona = Persona(soul="Be kind. " * 200)
    request = replace(request, memory="Plays chess. " * 90)
    layout = small.layout(12_000, name="Hermes")
    prompt = compose(request, persona, layout)
    fixed = [prompt.instructions, *(text for pair in layout.examples for text in pair)]
    assert sum(tokens(text) for text in [*fixed, prompt.last]) <= 600


@pytest.fixture
async def real(request: pytest.FixtureRequest) -> AsyncIterator[ModelAgent]:
    installed = WeightStore(default_folder()).selected(SMALL.sha256)
    if installed is None or not local.available():
        pytest.skip("no weights on this machine")
    agent = build_agent(
        Choice(Kind.LOCAL, SMALL.name, weights=installed), ModelSettings(), {}, Persona()
    )
    assert isinstance(agent, ModelAgent)
    yield agent
    await agent.aclose()


@pytest.mark.weights
@pytest.mark.timeout(300)
async def test_the_real_model_knows_who_speaks(real: ModelAgent) -> None:
    first = await ask(real, "My name is Ada.")
    history = (HistoryMessage(True, "My name is Ada."), HistoryMessage(False, first.text))
    for request in (
        turn("What is my name?", history=history),
        turn("What is my name?", recall="The user's name is Ada.\nAda lives in Lisbon."),
    ):
        answer = await ask(real, request)
        assert "Ada" in answer.text
        assert answer.model == f"local:{SMALL.name}"
