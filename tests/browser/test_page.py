"""The operator's page in a real browser: two accounts become one person, seen, saved, undone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from gateway.web.pages.common import SECTIONS
from tests.browser.conftest import FULL
from tests.browser.support import both_wrote, peers, sign_in
from tests.fakes.household import MIRA, STRANGER, TOBIAS

if TYPE_CHECKING:
    from playwright.async_api import Page, Route

    from gateway.web.server import PageServer
    from tests.browser.support import NewPage, WebHouse

#: on each change the two that show most of it, all of them for ``make check-web``
LONG = pytest.mark.skipif(not FULL, reason="part of make check-web")
PATHS = [section.path for section in SECTIONS]


async def say(house: WebHouse, user: int, count: int) -> None:
    """Write once more and wait for the answer."""
    house.tg.say("and again", user=user)
    await house.answers(count, user)
    await house.settled()


async def follows(house: WebHouse, served: PageServer, account: str, person: str | None) -> None:
    """Wait until the running gateway goes by the file."""
    current = served.parts.current
    told = f"{account} is {person}"
    await house.until(lambda: current.rules.identity.aliases.get(account) == person, told)


async def test_what_was_typed_before_the_page_was_ready_is_asked_about(
    house: WebHouse, served: PageServer, new_page: NewPage
) -> None:
    await both_wrote(house)
    page, go_on = await new_page(), asyncio.Event()
    await sign_in(page, served)

    async def late(route: Route) -> None:
        await go_on.wait()
        await route.continue_()

    await page.route("**/htmx.min.js*", late)
    address = f"{served.address}/aliases/change?do=alias&account=telegram:{TOBIAS}"
    await page.goto(address, wait_until="commit")
    await page.get_by_label("Is the person").fill(str(MIRA))
    go_on.set()
    await expect(page.locator("#preview .moves")).to_contain_text(f"telegram:{TOBIAS}")


@pytest.mark.parametrize("phone", [False, True][: 2 if FULL else 1], ids=str)
async def test_two_accounts_become_one_person_and_two_again(
    house: WebHouse, served: PageServer, new_page: NewPage, phone: bool
) -> None:
    await both_wrote(house)
    page, account = await new_page(phone=phone), f"telegram:{TOBIAS}"
    await sign_in(page, served)
    if phone:
        await page.get_by_text("Menu", exact=True).click()
    await page.get_by_role("link", name="People").click()
    await expect(page.get_by_role("link", name=str(MIRA))).to_be_visible()
    await page.get_by_role("link", name=str(TOBIAS)).click()
    await page.get_by_role("link", name=f"Belongs to… {account}").click()
    await page.get_by_label("Is the person").fill(str(MIRA))
    moves = page.locator("#preview .moves")
    await expect(moves).to_contain_text(account)
    await expect(moves.locator(".to")).to_contain_text(str(MIRA))
    await expect(page.locator("#preview")).to_contain_text("one person")
    assert not (house.home.path / "honcho.json").exists()
    await page.get_by_label("Reason").fill("he told me")
    await expect(page.get_by_label("let memory follow")).to_be_checked()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status").first).to_contain_text("Memory follows as job 1")
    await expect(page.locator("#live")).to_contain_text("done Job 1")

    await follows(house, served, account, str(MIRA))
    await say(house, TOBIAS, 2)
    # what he said before has followed, too
    assert peers(house, TOBIAS) == [str(MIRA), str(MIRA)]

    await page.get_by_role("link", name="Undo… change 1").click()
    await expect(moves.locator(".to")).to_contain_text(str(TOBIAS))
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("undone by 2")).to_be_visible()
    await follows(house, served, account, None)
    await say(house, TOBIAS, 3)
    assert peers(house, TOBIAS)[-1] == str(TOBIAS)


async def test_two_tabs_edit_at_once_and_neither_loses_anything(
    house: WebHouse, served: PageServer, new_page: NewPage
) -> None:
    await both_wrote(house)
    first = await new_page()
    await sign_in(first, served)
    second = await first.context.new_page()
    for page, user, person in ((first, MIRA, "mira"), (second, TOBIAS, "tobias")):
        await page.goto(f"{served.address}/aliases")
        await page.get_by_label("Account").fill(f"telegram:{user}")
        await page.get_by_label("Is the person").fill(person)
        await expect(page.locator("#preview .to")).to_contain_text(person)
    await first.get_by_role("button", name="Save").click()
    await expect(first.get_by_role("status").first).to_contain_text("Saved as change 1")
    await second.get_by_role("button", name="Save").click()
    await expect(second.get_by_role("alert")).to_contain_text("Somebody was faster")
    await expect(second.get_by_role("alert")).to_contain_text("mira")
    await expect(second.get_by_label("Account")).to_have_value(f"telegram:{TOBIAS}")
    await expect(second.get_by_label("Is the person")).to_have_value("tobias")
    await second.get_by_role("button", name="Save it all the same").click()
    await expect(second.get_by_role("status").first).to_contain_text("Saved as change 2")
    await expect(first.locator("#live")).to_contain_text("tobias")
    assert served.parts.home.honcho.read_text().count('"telegram:') == 2


async def press(page: Page, *keys: str) -> None:
    for key in keys:
        await page.keyboard.press(key)


async def tab_to(page: Page, name: str) -> None:
    """Press Tab until something of that name has the focus, and the focus can be seen."""
    for _ in range(60):
        await page.keyboard.press("Tab")
        found = await page.evaluate(
            "() => { const e = document.activeElement;"
            " return [(e.labels && e.labels[0] || e).textContent.trim(),"
            " getComputedStyle(e).outlineStyle] }"
        )
        if name in found[0]:
            assert found[1] != "none", f"nothing shows that {name} has the focus"
            return
    raise AssertionError(f"{name} is not reached by Tab")


@LONG
async def test_all_of_it_goes_by_keyboard(
    house: WebHouse, served: PageServer, new_page: NewPage
) -> None:
    await both_wrote(house)
    page = await new_page()
    await sign_in(page, served)
    await press(page, "Tab")
    await expect(page.get_by_text("Skip to the content")).to_be_focused()
    await press(page, "Enter")
    await expect(page.locator("main")).to_be_focused()
    await page.goto(served.address)
    await tab_to(page, "Aliases")
    await press(page, "Enter")
    await page.wait_for_url("**/aliases")
    await tab_to(page, "Account")
    await page.keyboard.type(f"telegram:{TOBIAS}")
    await tab_to(page, "Is the person")
    await page.keyboard.type("tobias")
    await expect(page.locator("#preview .to")).to_contain_text("tobias")
    await tab_to(page, "Save")
    await press(page, "Enter")
    await expect(page.get_by_role("status").first).to_contain_text("Saved as change 1")

    await tab_to(page, "Pairing")
    await press(page, "Enter")
    house.tg.say("let me in", user=STRANGER)
    await expect(page.locator("#live")).to_contain_text(str(STRANGER))
    await tab_to(page, "Turn away…")
    await press(page, "Enter")
    ask = page.get_by_role("button", name=f"Turn telegram:{STRANGER} away")
    await expect(ask).to_be_visible()
    await press(page, "Escape")
    await expect(ask).to_be_hidden()
    await press(page, "Enter", "Tab", "Enter")
    await expect(page.get_by_role("status").first).to_contain_text("Turned away")
    await expect(page.locator("#live")).to_contain_text("Nobody waits")


@LONG
async def test_it_works_without_a_script(
    house: WebHouse, served: PageServer, new_page: NewPage
) -> None:
    await both_wrote(house)
    page = await new_page(java_script_enabled=False)
    await sign_in(page, served)
    await page.goto(f"{served.address}/aliases")
    await page.get_by_label("Account").fill(f"telegram:{TOBIAS}")
    await page.get_by_label("Is the person").fill("tobias")
    await page.get_by_label("Is the person").press("Enter")
    await expect(page.locator("#preview .to")).to_contain_text("tobias")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status").first).to_contain_text("Saved as change 1")


@LONG
async def test_what_happens_is_seen_without_reloading_and_nothing_outside_is_asked(
    house: WebHouse, served: PageServer, new_page: NewPage
) -> None:
    page, asked = await new_page(), set[str]()
    page.on("request", lambda request: asked.add("/".join(request.url.split("/")[:3])))
    await sign_in(page, served)
    await page.goto(f"{served.address}/people")
    await page.evaluate("() => { window.here = true }")
    await both_wrote(house)
    await expect(page.locator("#live")).to_contain_text(f"telegram:{MIRA}")
    assert await page.evaluate("() => window.here") is True
    for path in PATHS:
        await page.goto(served.address + path)
    assert asked == {served.address}


@LONG
async def test_a_phone_never_scrolls_sideways(
    house: WebHouse, served: PageServer, new_page: NewPage
) -> None:
    house.tg.fail("sendMessage", 400, "unexpected")
    house.tg.say("hello", user=MIRA)
    await house.until(lambda: house.column("SELECT state FROM outbox") == ["failed"], "a failure")
    await both_wrote(house)
    house.tg.say("let me in", user=STRANGER)
    await house.answers(1, STRANGER)
    turn, session = house.first_turn()
    page = await new_page(phone=True)
    await sign_in(page, served)
    more = (f"/traces/{turn}", f"/sessions/{session}", f"/people/{MIRA}", "/nowhere")
    change = f"/aliases/change?do=merge&person={MIRA}&into={TOBIAS}"
    for path in (*PATHS, *more, change):
        await page.goto(served.address + path)
        wide = await page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= 360, f"{path} is {wide} wide"
