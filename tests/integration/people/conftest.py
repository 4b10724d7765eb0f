"""A home with people who wrote, and the service over it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from gateway.settings.home import Home
from gateway.store import migrate
from tests.integration.people.town import Town

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
async def town(tmp_path: Path, template: Path) -> AsyncIterator[Town]:
    """A home in which nobody has written yet."""
    home = Home(tmp_path / "hermes", tmp_path / "user")
    home.gateway.mkdir(parents=True)
    home.user.mkdir()
    shutil.copy(template, home.database)
    town = Town(home)
    yield town
    await town.store.close()
