"""One Chromium for all tests of a worker; a gateway with its page for each."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright

from gateway.settings.home import make_private_folder
from tests.browser.support import DESKTOP, PHONE, WebHouse, chromium, launch
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.agent import ScriptedAgent
from tests.fakes.household import MIRA, STRANGER, TOBIAS, TOKEN
from tests.integration.pipeline.conftest import empty_database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from playwright.async_api import Browser, Page

    from gateway.web.server import PageServer
    from tests.browser.support import NewPage

__all__ = ["empty_database"]

#: ``make check-web`` looks at every page in every size and colour; each change at a part of that
FULL = os.environ.get("CHECK_WEB") == "full"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep them on one worker, in one loop; say why they are skipped where there is no browser."""
    missing = "no Chromium here: install Debian's package chromium, or name one in CHROMIUM"
    for item in items:
        if not item.path.is_relative_to(os.path.dirname(__file__)):
            continue
        item.add_marker(pytest.mark.xdist_group("browser"))
        if item.get_closest_marker("asyncio") is not None:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
        if "browser" in getattr(item, "fixturenames", ()) and chromium() is None:
            item.add_marker(pytest.mark.skip(reason=missing))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as play:
        running = await launch(play)
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="session")
async def tg() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        emulator.bot(TOKEN)
        for user, name in ((MIRA, "Mira"), (TOBIAS, "Tobias"), (STRANGER, "Stray")):
            emulator.user(user, first_name=name)
        yield emulator


@pytest.fixture
def house(tmp_path: Path, tg: TelegramEmulator, empty_database: Path) -> WebHouse:
    house = WebHouse(tmp_path, tg, ScriptedAgent())
    make_private_folder(house.home.gateway)
    shutil.copy(empty_database, house.home.database)
    return house


@pytest_asyncio.fixture(loop_scope="session")
async def served(house: WebHouse) -> AsyncIterator[PageServer]:
    async with house.running() as page:
        yield page


@pytest_asyncio.fixture(loop_scope="session")
async def new_page(browser: Browser) -> AsyncIterator[NewPage]:
    """Open pages of their own sessions; in the end none of them has complained of anything."""
    opened, complaints = [], list[str]()

    async def open_(**options: Any) -> Page:
        options.setdefault("viewport", PHONE if options.pop("phone", False) else DESKTOP)
        context = await browser.new_context(**options)
        context.set_default_timeout(10_000)
        opened.append(context)
        page = await context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda told: _listen(told, complaints))
        return page

    yield open_
    for context in opened:
        await context.close()
    assert complaints == []


def _listen(told: Any, complaints: list[str]) -> None:
    """Note what the browser complains of: above all whatever the page's own policy forbids."""
    if told.type in ("error", "warning") and "status of 4" not in told.text:
        complaints.append(told.text)
