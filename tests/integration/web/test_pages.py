"""What every page keeps: nothing inline, nothing from elsewhere, one heading, its own words."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

from gateway.web.doors import Role
from gateway.web.guard import HEADERS
from gateway.web.pages.common import SECTIONS

if TYPE_CHECKING:
    import httpx

    from tests.integration.web.conftest import Site

PATHS = [section.path for section in SECTIONS]


class Reading(HTMLParser):
    """Notes what a document would run, fetch and style by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.addresses: list[str] = []
        self.headings = 0
        self.unproven: list[str] = []
        self._form = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.headings += tag == "h1"
        if tag == "style" or (tag == "script" and "src" not in found):
            self.inline.append(tag)
        self.inline += [name for name in found if name == "style" or name.startswith("on")]
        self.addresses += [found[name] for name in ("src", "href", "action") if name in found]
        if tag == "form" and found.get("method") == "post" and found["action"] != "/sign-in":
            self._form = found["action"]
        if found.get("name") == "proof" and found["value"]:
            self._form = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._form:
            self.unproven.append(self._form)
            self._form = ""


def read(text: str) -> Reading:
    reading = Reading()
    reading.feed(text)
    return reading


async def test_a_page_runs_and_fetches_only_what_is_ours(served: Site) -> None:
    async with served.signed_in() as client:
        for path in (*PATHS, "/sign-in", "/nowhere"):
            await _keeps_to_itself(client, path)


async def _keeps_to_itself(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.headers["content-type"].startswith("text/html")
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers["cache-control"] == "no-store"
    reading = read(answer.text)
    assert (reading.inline, reading.unproven, reading.headings) == ([], [], 1)
    outside = [one for one in reading.addresses if not one.startswith(("/", "#"))]
    assert outside == []
    files = {one for one in reading.addresses if one.startswith("/static/")}
    assert len(files) >= 4
    for file in files:
        assert (await client.get(file)).status_code == 200


async def test_a_live_part_is_sent_only_when_it_is_another(served: Site) -> None:
    async with served.signed_in() as client:
        for path in PATHS:
            await _sends_news_only(client, path)


async def _sends_news_only(client: httpx.AsyncClient, path: str) -> None:
    whole = (await client.get(path)).text
    (where,) = [
        line.partition('hx-get="')[2].partition('"')[0].replace("&amp;", "&")
        for line in whole.splitlines()
        if 'id="live"' in line
    ]
    headers = {"HX-Request": "true", "HX-Target": "live"}
    assert (await client.get(where, headers=headers)).status_code == 204
    stale = await client.get(path, params={"v": "another"}, headers=headers)
    assert stale.text.startswith('<div id="live"')
    assert stale.text in whole


async def test_a_viewer_sees_no_act_but_going(served: Site) -> None:
    async with served.signed_in(Role.VIEWER) as client:
        for path in PATHS:
            text = (await client.get(path)).text
            assert text.count('method="post"') == text.count('action="/sign-out"')
