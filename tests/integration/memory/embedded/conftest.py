"""The embedded service on each database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway.memory.embedded.serve import EmbeddedService
from tests.contract import conftest as databases
from tests.emulators.openai import ModelStub
from tests.fakes.clock import FakeClock
from tests.integration.memory.embedded.household import Household, client, plain
from tests.integration.memory.embedded.thoughtful import Thoughtful, capable, thoughtful

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.memory.embedded.deriver import Deriver
    from gateway.store.engine import Store

store = databases.store
sqlite_template = databases.sqlite_template
postgres_server = databases.postgres_server
postgres_template = databases.postgres_template
postgres_url = databases.postgres_url


@pytest.fixture
def deriver(request: pytest.FixtureRequest) -> Deriver | None:
    """Who thinks: made anew of the class that a test names, else None, which is the rule."""
    kind: type[Deriver] | None = getattr(request, "param", None)
    return kind() if kind else None


@pytest.fixture
async def home(store: Store, deriver: Deriver | None) -> AsyncIterator[Household]:
    """A service that nobody has spoken to."""
    clock = FakeClock()
    service = EmbeddedService(store, clock, deriver)
    url = await service.start()
    made = Household(service, store, clock, url, client(url, service.key), plain(url, service.key))
    yield made
    await made.close()
    await service.stop()


@pytest.fixture
async def model() -> AsyncIterator[ModelStub]:
    """A model that is able to think, as a script."""
    async with ModelStub() as made:
        yield made


@pytest.fixture
async def mind(store: Store, model: ModelStub) -> AsyncIterator[Thoughtful]:
    """A service that thinks with it."""
    async with thoughtful(store, completer=capable(model)) as made:
        yield made
