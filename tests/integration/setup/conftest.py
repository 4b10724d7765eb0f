"""An empty home, nobody on loopback, and somebody at a plain terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway.agent.choice import LOOPBACK
from gateway.settings.home import Home
from tests.integration.setup.operator import Operator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    user = tmp_path / "user"
    user.mkdir()
    place = Home(tmp_path / "hermes", user)
    for name, value in {
        "HERMES_HOME": str(place.path),
        "HERMES_MODELS": str(tmp_path / "models"),
        "HOME": str(user),
        "LOGNAME": "ada",
        "TERM": "dumb",
    }.items():
        monkeypatch.setenv(name, value)
    for server in list(LOOPBACK):
        monkeypatch.delitem(LOOPBACK, server)
    return place


@pytest.fixture
async def operator(home: Home, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Operator]:
    one = Operator(monkeypatch)
    async with one.person:
        yield one
        await one.leaves()
