"""A gateway with its page on a free port, in real time, and a real Chromium to look at it."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

from gateway import app
from gateway.ops.clock import SystemClock
from gateway.web.doors import Role
from tests.fakes.household import MIRA, TOBIAS, Household

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from playwright.async_api import Browser, Page, Playwright

    from gateway.web.server import PageServer
    from tests.emulators.telegram import TelegramEmulator
    from tests.fakes.agent import ScriptedAgent


class NewPage(Protocol):
    """Opens a browser window of its own, on a desk or a phone."""

    async def __call__(self, **options: Any) -> Page: ...


#: as Debian installs it; CHROMIUM names another one
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}


def chromium() -> str | None:
    """Return the browser of this machine, None where there is none."""
    named = os.environ.get("CHROMIUM", "")
    found = (shutil.which(name) for name in ((named,) if named else BROWSERS))
    return next(filter(None, found), None)


async def launch(play: Playwright) -> Browser:
    """Start the browser without any talk of its own to the outside."""
    return await play.chromium.launch(executable_path=chromium(), args=list(FLAGS))


def free_port() -> int:
    """Return a port that nobody has at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class WebHouse(Household):
    """A home whose gateway serves the page, in real time."""

    def __init__(self, folder: Path, tg: TelegramEmulator, agent: ScriptedAgent) -> None:
        self.port = free_port()
        super().__init__(folder, tg)
        self.agent = agent

    def configure(self, *, web: dict[str, Any] | None = None, **sections: Any) -> None:
        """Write config.yaml as ``Household`` does, with the page on its port."""
        super().configure(web={"port": self.port, **(web or {})}, **sections)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[PageServer]:
        """Run a gateway for as long as the block, and yield its page once it is open."""
        start = app.Start(
            self.home, app.load(self.home, {}), lambda _tools: self.agent, clock=SystemClock()
        )
        gateway, stop = app.assemble(start), asyncio.Event()
        assert gateway.page is not None
        run = asyncio.create_task(gateway.run(stop))
        try:
            await self.until(lambda: '"open"' in self._page_fact(), "an open page")
            yield gateway.page
        finally:
            stop.set()
            await asyncio.wait_for(run, 15)

    def _page_fact(self) -> str:
        return "".join(self.column("SELECT value FROM fact WHERE name = 'page'"))


async def sign_in(page: Page, served: PageServer, role: Role = Role.OPERATOR) -> None:
    """Use a one-time link as a person does."""
    await page.goto(await served.link(role, by="test"))
    await page.get_by_role("button", name="Open the page").click()
    await page.wait_for_url(f"{served.address}/")


async def both_wrote(house: Household) -> None:
    """Let one person write from two accounts, as two people."""
    for user in (MIRA, TOBIAS):
        house.tg.say("hello", user=user)
        await house.answers(1, user)
    await house.settled()


def peers(house: Household, user: int) -> list[str]:
    """Return whom an account was taken for, turn by turn."""
    return house.column("SELECT peer FROM turn WHERE user_id = ? ORDER BY id", str(user))
