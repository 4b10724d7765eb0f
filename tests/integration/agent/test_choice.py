"""The first model that fits, in the promised order, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from gateway.agent.build import build_agent
from gateway.agent.choice import Choice, Kind, choose, fallbacks
from gateway.agent.prompt import Persona
from gateway.agent.setup_reply import SetupAgent
from gateway.agent.weights import WeightStore
from gateway.model.errors import ConfigurationError
from gateway.settings.schema import ModelSettings
from tests.emulators.loopback import LoopbackServer
from tests.emulators.openai import ModelStub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

OPENAI = {"OPENAI_API_KEY": "sk-ours"}
ALL = OPENAI | {"ANTHROPIC_API_KEY": "x", "GOOGLE_API_KEY": "y"}


@pytest.fixture
def empty(tmp_path: Path) -> WeightStore:
    return WeightStore(tmp_path / "models")


@pytest.fixture
def full(tmp_path: Path) -> WeightStore:
    (tmp_path / "tiny.gguf").write_bytes(b"GGUF")
    store = WeightStore(tmp_path / "models")
    store.install(str(tmp_path / "tiny.gguf"))
    return store


@pytest.fixture
async def ollama() -> AsyncIterator[ModelStub]:
    async with ModelStub() as stub:
        stub.models[:] = ["nomic-embed-text", "qwen3"]
        yield stub


async def pick(
    store: WeightStore,
    secrets: Mapping[str, str] | None = None,
    *,
    servers: Mapping[str, str] | None = None,
    library: bool = True,
    **settings: Any,
) -> Choice:
    return await choose(
        ModelSettings(**settings),
        secrets or {},
        store,
        loopback=servers or {},
        local_library=lambda: library,
    )


async def test_a_configured_address_comes_first(full: WeightStore, ollama: ModelStub) -> None:
    choice = await pick(full, ALL, servers={"Ollama": ollama.base_url}, base_url="http://llm/v1")
    assert (choice.kind, choice.base_url, choice.name) == (Kind.OPENAI, "http://llm/v1", "")
    assert choice.describe() == [
        "openai:first listed model at http://llm/v1: model.base_url is set"
    ]


async def test_then_a_key(full: WeightStore, ollama: ModelStub) -> None:
    choice = await pick(full, ALL, servers={"Ollama": ollama.base_url}, name="big")
    assert (choice.kind, choice.name, choice.base_url) == (Kind.OPENAI, "big", None)
    assert "OPENAI_API_KEY is set" in choice.describe()[0]
    assert ollama.requests == []


async def test_then_a_server_on_loopback(full: WeightStore, ollama: ModelStub) -> None:
    servers = {"llama.cpp": "http://127.0.0.1:9/v1", "Ollama": ollama.base_url}
    choice = await pick(full, servers=servers)
    assert (choice.kind, choice.name, choice.base_url) == (Kind.LOOPBACK, "qwen3", ollama.base_url)
    assert choice.describe() == [
        f"loopback:qwen3 at {ollama.base_url}: Ollama answers on this machine",
        "not openai: OPENAI_API_KEY is not set",
        "not anthropic: ANTHROPIC_API_KEY is not set",
        "not google: GOOGLE_API_KEY is not set",
        "not llama.cpp: no answer at http://127.0.0.1:9/v1",
    ]


async def test_then_installed_weights(full: WeightStore) -> None:
    choice = await pick(full)
    assert (choice.kind, choice.name, choice.weights) == (Kind.LOCAL, "tiny", full.selected())


async def test_then_set_up_replies(empty: WeightStore) -> None:
    choice = await pick(empty)
    assert choice.kind is Kind.SETUP
    assert choice.describe()[-1] == (
        "not local: no weights are installed: run `hermes-gateway model install`"
    )


async def test_weights_without_their_library_are_no_model(full: WeightStore) -> None:
    choice = await pick(full, library=False)
    assert choice.kind is Kind.SETUP
    assert 'pip install "hermes-gateway[local]"' in choice.describe()[-1]


async def test_a_named_model_must_be_on_the_server(empty: WeightStore, ollama: ModelStub) -> None:
    servers = {"Ollama": ollama.base_url}
    assert (await pick(empty, servers=servers, name="qwen3")).kind is Kind.LOOPBACK
    choice = await pick(empty, servers=servers, name="llama9")
    assert choice.kind is Kind.SETUP
    assert f"not Ollama: {ollama.base_url} has no model llama9" in choice.describe()


class Something(LoopbackServer):
    """Another program on a port where a model could be; it notes what it was asked with."""

    def __init__(self, answer: str) -> None:
        super().__init__()
        self.answer = answer
        self.authorization: list[str | None] = []

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/v1/models", self._answer)]

    async def _answer(self, request: web.Request) -> web.Response:
        self.authorization.append(request.headers.get("Authorization"))
        return web.Response(text=self.answer, content_type="application/json")


@pytest.mark.parametrize(
    "answer",
    ["", "<html>", "[]", "{}", '{"data": 1}', '{"data": []}', '{"data": [{"id": 1}, 2, null]}'],
)
async def test_another_program_on_the_port_is_no_model(empty: WeightStore, answer: str) -> None:
    async with Something(answer) as something:
        choice = await pick(empty, servers={"vLLM": f"{something.address}/v1"})
        assert choice.kind is Kind.SETUP
        assert something.authorization == [None]


async def test_a_key_of_somebody_else_is_never_sent_to_a_found_server(
    empty: WeightStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-in-the-environment")
    async with Something('{"data": [{"id": "m"}]}') as something:
        choice = await pick(empty, servers={"vLLM": f"{something.address}/v1"})
        assert choice.kind is Kind.LOOPBACK
        assert something.authorization == [None]


@pytest.mark.parametrize(
    ("provider", "secrets", "problem"),
    [
        ("openai", {}, "OPENAI_API_KEY is not set"),
        ("anthropic", {}, "ANTHROPIC_API_KEY is not set"),
        ("google", OPENAI, "GOOGLE_API_KEY is not set"),
    ],
)
async def test_a_named_provider_without_its_key_stops_the_start(
    full: WeightStore, provider: str, secrets: dict[str, str], problem: str
) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        await pick(full, secrets, provider=provider)


@pytest.fixture
def _no_anthropic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.agent.choice._importable", lambda name: name != "anthropic")


@pytest.mark.usefixtures("_no_anthropic")
async def test_a_missing_library_is_named_with_its_command(empty: WeightStore) -> None:
    secrets = {"ANTHROPIC_API_KEY": "x"}
    with pytest.raises(ConfigurationError, match=r'pip install "hermes-gateway\[anthropic\]"'):
        await pick(empty, secrets, provider="anthropic")
    choice = await pick(empty, secrets)
    assert choice.kind is Kind.SETUP
    assert any('pip install "hermes-gateway[anthropic]"' in line for line in choice.describe())


async def test_local_asks_no_server_and_no_provider(full: WeightStore, ollama: ModelStub) -> None:
    choice = await pick(full, ALL, servers={"Ollama": ollama.base_url}, provider="local")
    assert choice.kind is Kind.LOCAL
    assert choice.passed_over == ()


async def test_local_weights_that_are_not_there_stop_the_start(full: WeightStore) -> None:
    with pytest.raises(ConfigurationError, match=r"called huge \(installed: tiny\)"):
        await pick(full, provider="local", name="huge")


@pytest.mark.parametrize(
    ("entry", "kind", "name", "base_url"),
    [
        ("small", Kind.OPENAI, "small", "http://llm/v1"),
        ("openai:small", Kind.OPENAI, "small", "http://llm/v1"),
        ("qwen2.5:7b", Kind.OPENAI, "qwen2.5:7b", "http://llm/v1"),
        ("google:flash", Kind.GOOGLE, "flash", None),
    ],
)
def test_fallbacks(
    entry: str, kind: Kind, name: str, base_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.agent.choice._importable", lambda _name: True)
    settings = ModelSettings(base_url="http://llm/v1", name="big", fallback=(entry,))
    primary = Choice(Kind.OPENAI, name="big", base_url="http://llm/v1")
    (fallback,) = fallbacks(primary, settings, ALL)
    assert (fallback.kind, fallback.name, fallback.base_url) == (kind, name, base_url)


def test_a_local_model_has_no_fallback() -> None:
    settings = ModelSettings(fallback=("small",))
    with pytest.raises(ConfigurationError, match=r"model\.fallback stands in for a hosted model"):
        build_agent(Choice(Kind.LOCAL), settings, {}, Persona())


async def test_set_up_replies_are_an_agent() -> None:
    agent = build_agent(Choice(Kind.SETUP), ModelSettings(), {}, Persona())
    assert isinstance(agent, SetupAgent)
    await agent.aclose()


async def test_building_starts_and_connects_nothing(full: WeightStore) -> None:
    for choice in (
        await pick(full),
        Choice(Kind.OPENAI, "big"),
        Choice(Kind.LOOPBACK, "m", "http://x"),
    ):
        agent = build_agent(choice, ModelSettings(), OPENAI, Persona())
        await agent.aclose()


async def test_the_description_holds_no_key(empty: WeightStore) -> None:
    choice = await pick(empty, ALL)
    assert "sk-ours" not in repr(choice) + "".join(choice.describe())
