"""Search by meaning: a remote encoder over HTTP, fused with words, kept with its model's name."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from gateway.agent.embed import RemoteEmbedder
from gateway.memory.embedded import tables
from tests.emulators.embeddings import EncoderStub
from tests.integration.memory.embedded.thoughtful import Thoughtful, thoughtful

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.store.engine import Store


pytestmark = pytest.mark.parametrize("store", ["sqlite"], indirect=True)


@pytest.fixture
async def encoder() -> AsyncIterator[EncoderStub]:
    async with EncoderStub() as made:
        yield made


@pytest.fixture
async def mind(store: Store, encoder: EncoderStub) -> AsyncIterator[Thoughtful]:
    async with thoughtful(store, embedder=remote(encoder)) as made:
        yield made


def remote(encoder: EncoderStub, model: str = "first") -> RemoteEmbedder:
    return RemoteEmbedder(encoder.base_url, model, key=encoder.api_key)


async def found(mind: Thoughtful, query: str, path: str = "search", **more: Any) -> list[str]:
    answer = await mind.post(path, {"query": query, **more})
    assert answer.status_code == 200, answer.text
    return [each["content"] for each in answer.json()]


async def models(mind: Thoughtful) -> dict[str, int]:
    """Return how many vectors each model has."""
    vector = tables.vector
    query = sa.select(vector.c.model, sa.func.count()).group_by(vector.c.model)
    return await mind.store.read(lambda conn: dict(conn.execute(query).tuples().all()))


SAID = (
    ("ann", "My dog sleeps all day."),
    ("ann", "Tomatoes grow slowly."),
    ("bob", "The hound of a friend barks."),
    ("ann", "Я живу у моря."),
    ("ann", "我是医生。"),
)


async def test_meaning_over_words_and_languages(mind: Thoughtful) -> None:
    await mind.say("s1", *SAID)
    assert await found(mind, "собака") == [
        "My dog sleeps all day.",
        "The hound of a friend barks.",
    ]
    assert await found(mind, "doctor") == ["我是医生。"]
    assert await found(mind, "home") == ["Я живу у моря."]
    assert await found(mind, "tomatoes") == ["Tomatoes grow slowly."]
    assert await found(mind, "dinosaur") == []


async def test_only_what_the_asker_may_see(mind: Thoughtful) -> None:
    await mind.say("s1", *SAID)
    await mind.say("s2", ("ann", "Another dog came by."))
    assert await found(mind, "hound", "peers/ann/search") == [
        "Another dog came by.",
        "My dog sleeps all day.",
    ]
    assert await found(mind, "hound", "sessions/s2/search") == ["Another dog came by."]
    assert await found(mind, "狗", filters={"peer_id": "bob"}) == ["The hound of a friend barks."]
    assert await found(mind, "hound", limit=1) == ["The hound of a friend barks."]


async def test_conclusions_and_answers_too(mind: Thoughtful) -> None:
    await mind.say("s1", ("ann", "My dog is called Rex."), ("ann", "I grow tomatoes."))
    await mind.thought()
    pair = {"observer_id": "ann", "observed_id": "ann"}
    assert await found(mind, "собака", "conclusions/query", filters=pair) == [
        "My dog is called Rex."
    ]
    assert "Rex" in str(await mind.ask("собака?"))
    path = "peers/ann/representation"
    body = {"search_query": "狗", "max_conclusions": 1}
    assert "Rex" in (await mind.post(path, body)).json()["representation"]


async def test_another_model_reads_everything_anew(store: Store, encoder: EncoderStub) -> None:
    async with thoughtful(store, embedder=remote(encoder)) as mind:
        await mind.say("s1", *SAID)
        await mind.thought()
        # five messages, and the three of them that speak of oneself
        await mind.until(lambda: _only(mind, "first", 8))
    async with thoughtful(store, embedder=remote(encoder, "second")) as mind:
        sweep = asyncio.create_task(mind.service.sweep())
        await mind.until(lambda: _only(mind, "second", 8))
        sweep.cancel()
        assert await found(mind, "doctor") == ["我是医生。"]
    row = sa.select(tables.vector.c.dimension).distinct()
    assert await store.read(lambda conn: list(conn.execute(row).scalars())) == [512]


async def _only(mind: Thoughtful, model: str, count: int) -> bool:
    return await models(mind) == {model: count}


async def test_what_is_deleted_leaves_no_vector(mind: Thoughtful) -> None:
    await mind.say("s1", ("ann", "My dog is called Rex."))
    await mind.thought()
    assert await found(mind, "собака") == ["My dog is called Rex."]
    await mind.until(lambda: _only(mind, "first", 2))
    await mind.raw.delete("sessions/s1")
    assert await models(mind) == {}


@pytest.mark.parametrize("status", [401, 404, 429, 500])
async def test_without_the_encoder_words_are_left(
    mind: Thoughtful, encoder: EncoderStub, status: int
) -> None:
    encoder.status = status
    await mind.say("s1", *SAID)
    assert await found(mind, "dog tomatoes") == [
        "Tomatoes grow slowly.",
        "My dog sleeps all day.",
    ]
    assert await found(mind, "собака") == []
