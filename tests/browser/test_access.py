"""Nobody is kept out by how the page is made: axe-core looks at it, in both colour schemes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.async_playwright import Axe

from gateway.web.doors import Role
from gateway.web.pages.common import SECTIONS
from tests.browser.conftest import FULL
from tests.browser.support import both_wrote, sign_in
from tests.fakes.household import MIRA, STRANGER, TOBIAS

if TYPE_CHECKING:
    from playwright.async_api import Page

    from gateway.web.server import PageServer
    from tests.browser.support import NewPage, WebHouse

ALL = [section.path for section in SECTIONS]
#: colour schemes and sizes that are looked at; the first one on each change
LOOKS = [("light", True), ("dark", False), ("light", False), ("dark", True)][: 4 if FULL else 1]


async def faults(page: Page) -> list[str]:
    """Return what axe finds, in one line each: rule, weight, where."""
    found = await Axe().run(page)
    return [
        f"{page.url} {one['id']} ({one['impact']}): {one['nodes'][0]['html'][:120]}"
        for one in found.response["violations"]
    ]


async def fill(house: WebHouse) -> None:
    """Let every page have something to show."""
    house.honcho(userPeerAliases={"telegram:5": "mira"})
    house.tg.fail("sendMessage", 400, "unexpected")
    house.tg.say("hello", user=MIRA)
    await house.until(lambda: house.column("SELECT state FROM outbox") == ["failed"], "a failure")
    house.tg.say("let me in", user=STRANGER)
    await house.answers(1, STRANGER)
    await both_wrote(house)


@pytest.mark.parametrize(("scheme", "phone"), LOOKS)
async def test_axe_finds_nothing(
    house: WebHouse, served: PageServer, new_page: NewPage, scheme: str, phone: bool
) -> None:
    await fill(house)
    turn, session = house.first_turn()
    page = await new_page(phone=phone, color_scheme=scheme)
    found = []
    for path in ("/sign-in", f"/sign-in?key={await served.parts.doors.link(Role.VIEWER, by='t')}"):
        await page.goto(served.address + path)
        found += await faults(page)
    await sign_in(page, served)
    change = f"/aliases/change?do=alias&account=telegram:{TOBIAS}&person={MIRA}"
    single = (f"/traces/{turn}", f"/sessions/{session}", f"/people/{MIRA}", "/nowhere", change)
    for path in (*ALL, *single):
        await page.goto(served.address + path)
        found += await faults(page)
    if phone:
        await page.get_by_text("Menu", exact=True).click()
    else:
        await page.goto(f"{served.address}/pairing")
        await page.get_by_text("Turn away…").click()
    found += await faults(page)
    assert found == []
