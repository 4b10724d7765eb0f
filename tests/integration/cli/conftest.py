"""An empty home for each command that is tried on it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from gateway.settings.home import Home
from tests.integration.cli.server import Server
from tests.integration.memory.conftest import template as template
from tests.integration.memory.scribe import service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home in which nothing has happened, and its user's folder."""
    place = Home(tmp_path / "hermes", tmp_path / "user")
    place.gateway.mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("HERMES_HOME", str(place.path))
    monkeypatch.setenv("HOME", str(place.user))
    return place


@pytest.fixture
async def server(home: Home, tmp_path: Path, template: Path) -> AsyncIterator[Server]:
    shutil.copy(template, home.database)
    async with service(tmp_path, template) as served:
        made = Server(home, await served.start(), served.key)
        yield made
        await made.memory.aclose()
