"""A home with a Telegram and an agent for each test."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

import pytest

from gateway.ops import logs
from gateway.settings.home import make_private_folder
from gateway.settings.schema import LogSettings
from gateway.store import migrate
from gateway.store.sqlite import SqliteStore
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.agent import ScriptedAgent
from tests.fakes.household import MIRA, OTHER_TOKEN, TOBIAS, TOKEN
from tests.integration.pipeline.support import House

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def no_token_is_ever_logged(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """H-42: whatever a test does, at the most talkative level, with the masks switched off."""
    monkeypatch.setattr(logs, "redact", lambda line, _secrets: line)
    logs.configure(LogSettings(level="debug", format="json"), ())
    yield
    out, err = capsys.readouterr()
    print(err)  # for whoever looks at a failure
    for secret in (TOKEN, OTHER_TOKEN):
        assert secret.partition(":")[2] not in out + err, "a token in the log"


@pytest.fixture
async def tg() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        emulator.bot(TOKEN)
        emulator.user(MIRA, first_name="Mira")
        emulator.user(TOBIAS, first_name="Tobias")
        yield emulator


@pytest.fixture
def agent() -> ScriptedAgent:
    return ScriptedAgent()


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database, made once: migrating takes longer than most tests here."""
    path = tmp_path_factory.mktemp("database") / "gateway.db"
    store = SqliteStore(path)
    migrate.upgrade(store.engine)
    asyncio.run(store.close())
    return path


@pytest.fixture
def house(
    tmp_path: Path, tg: TelegramEmulator, agent: ScriptedAgent, empty_database: Path
) -> House:
    house = House(tmp_path, tg, agent)
    make_private_folder(house.home.gateway)
    shutil.copy(empty_database, house.home.database)
    return house
