"""A mailbox on a file of its own, with a clock and a store that obey the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway.store.sqlite import SqliteStore
from gateway.store.tables import metadata
from tests.fakes.clock import FakeClock
from tests.fakes.store import FaultyStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[FaultyStore]:
    real = SqliteStore(tmp_path / "gateway.db", readers=1)
    metadata.create_all(real.engine)
    yield FaultyStore(real)
    await real.close()
