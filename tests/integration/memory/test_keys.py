"""Keys of honcho.json, from the file to what the service is asked and told."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from gateway import app
from gateway.memory.clients import endpoint_of
from gateway.memory.honcho import HonchoMemory
from gateway.memory.service import open_service
from gateway.model.errors import MemoryServiceError
from gateway.settings.home import Home
from tests.emulators.honcho_proxy import HonchoProxy
from tests.fakes.clock import FakeClock
from tests.integration.memory.recalling import ADA, Bench, knowing, opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from gateway.pipeline.rules import Rules
    from gateway.settings.read import Loaded
    from tests.fakes.memory import FakeMemory

LONG = "Tell me about the garden in autumn. " * 12


def loaded(folder: Path, environ: Mapping[str, str] | None = None, /, **keys: Any) -> Loaded:
    """Return the configuration of a home whose honcho.json holds ``keys``."""
    home = Home(folder / "hermes", folder / "user")
    home.path.mkdir(exist_ok=True)
    (home.path / "honcho.json").write_text(json.dumps(keys))
    return app.load(home, environ or {})


def rules(folder: Path, **keys: Any) -> Rules:
    """Return the rules of such a home."""
    return app.rules_of(loaded(folder, **keys))


@asynccontextmanager
async def configured(folder: Path, memory: FakeMemory, **keys: Any) -> AsyncIterator[Bench]:
    """Open a recall that follows ``keys``."""
    async with opened(folder, memory) as bench:
        bench.rules = rules(folder, **keys).recall
        yield bench


async def several(bench: Bench, count: int, message: str = "And the exam?") -> list[str]:
    """Take turns of one person, with what is fetched between them."""
    texts = []
    for _ in range(count):
        texts.append(await bench.turn(message=message))
        await bench.recall.refresh(ADA, message)
    return texts


# --- where the service is ------------------------------------------------------------------------


@asynccontextmanager
async def asking(folder: Path, **keys: Any) -> AsyncIterator[tuple[HonchoMemory, HonchoProxy]]:
    """Open a client that follows ``keys``, of a service that is not there."""
    async with HonchoProxy("http://127.0.0.1:9") as proxy:
        honcho = loaded(folder, **{"baseUrl": proxy.address, **keys}).honcho
        memory = HonchoMemory(lambda: endpoint_of(honcho), FakeClock())
        yield memory, proxy
        await memory.aclose()


async def test_where_requests_go(tmp_path: Path) -> None:
    async with asking(tmp_path, apiKey="sesame", workspace="garden") as (memory, proxy):
        proxy.refuse("", 503)
        with pytest.raises(MemoryServiceError):
            await memory.pending()
        (request,) = proxy.seen
    assert (request.path, request.json) == ("/v3/workspaces", {"id": "garden"})
    assert request.headers["Authorization"] == "Bearer sesame"


_CLOUD, _OTHER = "HONCHO_API_KEY", "HONCHO_BASE_URL"


@pytest.mark.parametrize(
    ("root", "block", "environ", "sent"),
    [
        ({}, {"baseUrl": "HERE"}, {_CLOUD: "cloud"}, None),
        ({"apiKey": "cloud"}, {"baseUrl": "HERE"}, {_CLOUD: "cloud"}, None),
        ({"baseUrl": "http://other"}, {"baseUrl": "HERE"}, {_CLOUD: "cloud"}, None),
        ({"baseUrl": "HERE"}, {}, {_CLOUD: "cloud", _OTHER: "http://other"}, None),
        ({}, {"baseUrl": "HERE", "apiKey": ""}, {_CLOUD: "cloud", _OTHER: "HERE"}, None),
        ({}, {"baseUrl": "HERE", "apiKey": "own"}, {_CLOUD: "cloud"}, "own"),
        ({}, {"baseUrl": "HERE"}, {_CLOUD: "own", _OTHER: "HERE/v3/"}, "own"),
        ({"baseUrl": "HERE", "apiKey": "own"}, {"baseUrl": "HERE/"}, {_CLOUD: "cloud"}, "own"),
        ({"baseUrl": "HERE"}, {}, {_CLOUD: "own"}, "own"),
        ({"baseUrl": "HERE"}, {"apiKey": "own"}, {_CLOUD: "cloud"}, "own"),
        ({}, {}, {_CLOUD: "own", _OTHER: "HERE"}, "own"),
    ],
)
async def test_a_key_goes_to_its_own_server_only(
    tmp_path: Path,
    root: dict[str, str],
    block: dict[str, str],
    environ: dict[str, str],
    sent: str | None,
) -> None:
    """O2: neither the file's key for another server nor the environment's is sent."""
    async with HonchoProxy("http://127.0.0.1:9") as proxy:

        def here(keys: dict[str, str]) -> dict[str, str]:
            return {key: text.replace("HERE", proxy.address) for key, text in keys.items()}

        tree = {**here(root), "hosts": {"hermes": here(block)}}
        found = loaded(tmp_path, here(environ), **tree)
        memory = HonchoMemory(lambda: endpoint_of(found.honcho), FakeClock())
        proxy.refuse("", 401)
        with pytest.raises(MemoryServiceError) as caught:
            await memory.pending()
        await memory.aclose()
        (request,) = proxy.seen
    assert request.headers.get("Authorization") == (f"Bearer {sent}" if sent else None)
    assert ("none is sent" in str(caught.value)) is (sent is None)
    unsaid = block.get("apiKey") == ""
    assert any("not sent" in text for text in found.warnings) is (sent is None and not unsaid)


def test_the_key_of_the_environment_goes_to_the_hosted_service(tmp_path: Path) -> None:
    hosts = {"hermes": {"baseUrl": "https://API.honcho.dev/v3"}}
    found = endpoint_of(loaded(tmp_path, {_CLOUD: "cloud"}, hosts=hosts).honcho)
    assert (found.base_url.lower(), found.key) == ("https://api.honcho.dev", "cloud")
    assert endpoint_of(loaded(tmp_path, {_CLOUD: "cloud"}).honcho).key == "cloud"


async def test_timeout(tmp_path: Path) -> None:
    async with asking(tmp_path, timeout=0.1) as (memory, proxy):
        proxy.slow("", 30)
        with pytest.raises(MemoryServiceError) as caught:
            await memory.open_session(ADA.session, {})
    assert caught.value.code == "memory_timeout"


@pytest.mark.parametrize(("enabled", "there"), [(None, True), (True, True), (False, False)])
async def test_enabled(tmp_path: Path, enabled: bool | None, there: bool) -> None:
    found = loaded(tmp_path, baseUrl="http://127.0.0.1:9", enabled=enabled)
    settings = found.settings.model_copy(
        update={"memory": found.settings.memory.model_copy(update={"provider": "honcho"})}
    )
    async with opened(tmp_path, knowing()) as bench:
        service = open_service(settings, found.honcho, bench.store, bench.clock)
    assert (service is not None) is there


# --- what is recalled ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "injects", "tools"),
    [("hybrid", True, True), ("context", True, False), ("tools", False, True)],
)
async def test_recall_mode(tmp_path: Path, mode: str, injects: bool, tools: bool) -> None:
    memory = knowing(representation="Ada likes tea.")
    async with configured(tmp_path, memory, recallMode=mode) as bench:
        assert bool(await bench.turn()) is injects
        assert bool(memory.calls) is injects
    assert rules(tmp_path, recallMode=mode).tools.shown is tools


@pytest.mark.parametrize(("tokens", "text"), [(None, 119), (8, 32)])
async def test_context_tokens(tmp_path: Path, tokens: int | None, text: int) -> None:
    memory = knowing(representation="Ada likes tea with milk.")
    memory.answers.clear()
    async with configured(tmp_path, memory, contextTokens=tokens) as bench:
        assert len(await bench.turn()) == text


@pytest.mark.parametrize(("cadence", "fetched"), [(1, 7), (3, 3)])
async def test_context_cadence(tmp_path: Path, cadence: int, fetched: int) -> None:
    memory = knowing(representation="Ada likes tea.")
    async with configured(tmp_path, memory, contextCadence=cadence) as bench:
        assert all("tea" in text for text in await several(bench, 6))
    assert len([query for query in memory.contexts if query.target == "ada"]) == fetched


@pytest.mark.parametrize(("cadence", "asked"), [(1, 6), (2, 3), (3, 2)])
async def test_dialectic_cadence(tmp_path: Path, cadence: int, asked: int) -> None:
    memory = knowing()
    memory.answers = ["The exam is on Friday."] * 10
    async with configured(tmp_path, memory, dialecticCadence=cadence) as bench:
        await several(bench, 6)
    assert len(memory.questions) == asked


@pytest.mark.parametrize(
    ("keys", "message", "levels"),
    [
        ({}, "And the exam?", ["low"]),
        ({"dialecticReasoningLevel": "medium"}, "And the exam?", ["medium"]),
        ({"dialecticDepth": 2}, "And the exam?", ["minimal", "low"]),
        ({"dialecticDepth": 3}, "And the exam?", ["minimal", "low", "low"]),
        ({"dialecticDepth": 2, "dialecticDepthLevels": ["low", "max"]}, LONG, ["low", "max"]),
        ({}, LONG, ["high"]),
        ({"reasoningLevelCap": "medium"}, LONG, ["medium"]),
        ({"reasoningHeuristic": False}, LONG, ["low"]),
    ],
)
async def test_levels_of_the_passes(
    tmp_path: Path, keys: dict[str, Any], message: str, levels: list[str]
) -> None:
    memory = knowing()
    memory.answers = ["Friday."] * 3
    async with configured(tmp_path, memory, **keys) as bench:
        await bench.turn(message=message)
    assert [question.level for question in memory.questions] == levels


async def test_dialectic_max_chars(tmp_path: Path) -> None:
    memory = knowing()
    memory.answers = ["The exam is on Friday."]
    async with configured(tmp_path, memory, dialecticMaxChars=12) as bench:
        assert (await bench.turn()).endswith("\nThe exam is")


async def test_dialectic_max_input_chars(tmp_path: Path) -> None:
    memory = knowing()
    async with configured(tmp_path, memory, dialecticMaxInputChars=300) as bench:
        await bench.turn(message=LONG)
    (question,) = memory.questions
    assert 280 < len(question.text) <= 300


@pytest.mark.parametrize(
    ("keys", "pauses"),
    [
        ({}, [2.0, 3.0]),
        ({"firstTurnBaseWait": 1.5}, [1.5, 2.0]),
        ({"firstTurnDialecticWait": 0.5}, [0.5, 3.0]),
    ],
)
async def test_first_turn_waits(tmp_path: Path, keys: dict[str, Any], pauses: list[float]) -> None:
    memory = knowing()
    memory.gate = asyncio.Event()
    async with configured(tmp_path, memory, **keys) as bench:
        first = asyncio.create_task(bench.turn())
        await bench.clock.until_sleeping(2)
        assert bench.clock.pauses == pauses
        await bench.clock.advance(pauses[-1])
        assert await first == ""


@pytest.mark.parametrize(
    ("keys", "asker", "target"),
    [
        ({}, "hermes", "ada"),
        ({"aiPeer": "iris"}, "iris", "ada"),
        ({"observationMode": "unified"}, "hermes", "ada"),
        ({"observation": {"ai": {"observeOthers": False}}}, "ada", None),
    ],
)
async def test_whose_view_is_asked_for(
    tmp_path: Path, keys: dict[str, Any], asker: str, target: str | None
) -> None:
    """C10: agent and person, or the person's own peer where the agent observes nobody."""
    memory = knowing()
    async with configured(tmp_path, memory, **keys) as bench:
        await bench.turn()
    (question,) = memory.questions
    assert (question.asker, question.target) == (asker, target)
    about_ada = next(query for query in memory.contexts if query.target == "ada")
    assert about_ada.perspective == (asker if target else None)


@pytest.mark.parametrize(
    ("keys", "person", "agent"),
    [
        ({}, (True, True), (True, True)),
        ({"observationMode": "unified"}, (True, False), (False, True)),
        ({"observation": {"user": {"observeMe": False}}}, (False, True), (True, True)),
        (
            {"observationMode": "unified", "observation": {"ai": {"observeMe": True}}},
            (True, False),
            (True, True),
        ),
    ],
)
def test_who_observes(
    tmp_path: Path,
    keys: dict[str, Any],
    person: tuple[bool, bool],
    agent: tuple[bool, bool],
) -> None:
    found = rules(tmp_path, **keys).capture.observation
    assert (found.user.observe_me, found.user.observe_others) == person
    assert (found.agent.observe_me, found.agent.observe_others) == agent


@pytest.mark.parametrize(
    ("keys", "person", "agent"),
    [
        ({"memoryMode": "local"}, "userMemoryMode", "agentMemoryMode"),
        ({"memoryMode": "local", "userMemoryMode": "hybrid"}, "", "agentMemoryMode"),
        ({"memoryMode": "honcho", "agentMemoryMode": "local"}, "", "agentMemoryMode"),
        ({"memoryMode": "honcho"}, "", ""),
        ({}, "", ""),
    ],
)
def test_memory_modes(tmp_path: Path, keys: dict[str, Any], person: str, agent: str) -> None:
    """Whose messages stay here: the peer's own key goes before the shorthand."""
    found = rules(tmp_path, **keys).capture
    assert (found.skip_user, found.skip_agent) == (person, agent)
