"""A writer, a proxy and a real memory service for each test."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from gateway.store import migrate
from gateway.store.sqlite import SqliteStore
from tests.emulators.honcho_proxy import HonchoProxy
from tests.fakes.clock import FakeClock
from tests.integration.memory.scribe import Scribe, service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the present schema, to copy from."""
    path = tmp_path_factory.mktemp("template") / "gateway.db"
    engine = sa.create_engine(f"sqlite:///{path}")
    migrate.upgrade(engine)
    engine.dispose()
    return path


@pytest.fixture
async def scribe(tmp_path: Path, template: Path) -> AsyncIterator[Scribe]:
    """A writer that runs, with an open session ``talk``."""
    path = tmp_path / "gateway.db"
    shutil.copy(template, path)
    store = SqliteStore(path)
    async with service(tmp_path, template) as served:
        url = await served.start()
        async with HonchoProxy(url) as proxy:
            scribe = Scribe(store, FakeClock(), proxy, url, served.key)
            await scribe.start()
            await scribe.open()
            yield scribe
            await scribe.stop()
    await store.close()
