"""Takes the pictures of the guide: ``python -m tests.browser.pictures docs/pictures``."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.async_api import async_playwright

from gateway.settings.home import make_private_folder
from gateway.store import people
from tests.browser.support import WebHouse, launch, sign_in
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.agent import ScriptedAgent
from tests.fakes.household import MIRA, STRANGER, TOBIAS, TOKEN

if TYPE_CHECKING:
    from playwright.async_api import Page

    from gateway.web.server import PageServer

DISCORD, SLACK = "812345678901234567", ("T012AB3CD", "U045EF6GH")
CHANGE = f"/aliases/change?do=alias&account=discord:{DISCORD}&person=mira"
#: file, address, size, colour scheme
PICTURES = (
    ("health-light", "/", (1120, 760), "light"),
    ("people-light", "/people", (1120, 640), "light"),
    ("preview-light", CHANGE, (1120, 720), "light"),
    ("preview-dark", CHANGE, (1120, 720), "dark"),
    ("person-phone", "/people/mira", (390, 780), "light"),
    ("deliveries-phone", "/deliveries", (390, 780), "dark"),
)


async def _live(house: WebHouse, served: PageServer) -> None:
    """Let a household live for a moment."""
    for user in (MIRA, TOBIAS, MIRA):
        house.tg.say("good morning", user=user)
        await house.settled()
    house.tg.say("may I come in?", user=STRANGER)
    house.tg.fail("sendMessage", 400, "unexpected")
    house.tg.say("and now?", user=TOBIAS)
    await house.settled()
    now = served.parts.clock.now()

    def write(tx: Any) -> None:
        for account, name in (
            (people.Account("discord", "", DISCORD), "mira_k"),
            (people.Account("slack", *SLACK), "Jonas"),
        ):
            people.seen(tx, account, name=name, language="en", now=now)

    await served.parts.store.write(write)


async def _take(page: Page, served: PageServer, path: str, file: Path) -> None:
    await page.goto(served.address + path)
    await page.screenshot(path=file, animations="disabled")


async def _main(folder: Path) -> None:
    async with TelegramEmulator() as tg, async_playwright() as play:
        tg.bot(TOKEN)
        for user, name in ((MIRA, "Mira"), (TOBIAS, "Tobias"), (STRANGER, "Stray")):
            tg.user(user, first_name=name)
        house = WebHouse(Path(tempfile.mkdtemp()), tg, ScriptedAgent())
        house.honcho(peerName="ada", userPeerAliases={f"telegram:{MIRA}": "mira"})
        make_private_folder(house.home.gateway)
        browser = await launch(play)
        async with house.running() as served:
            await _live(house, served)
            for name, path, (width, height), scheme in PICTURES:
                options: Any = {"color_scheme": scheme}
                size: Any = {"width": width, "height": height}
                page = await browser.new_page(viewport=size, **options)
                await sign_in(page, served)
                await _take(page, served, path, folder / f"{name}.png")
                await page.context.close()
        await browser.close()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(_main(target))
