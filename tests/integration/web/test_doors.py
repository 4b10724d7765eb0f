"""Who comes in: links, sessions, tokens; who does not; and what is left of it in the database."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from fastapi.routing import APIRoute

from gateway.web import api, pages
from gateway.web.access import WITHIN, WRONG
from gateway.web.doors import LINK_HOLDS, SESSION_HOLDS, SESSION_IDLES, Role
from gateway.web.guard import LARGEST
from tests.integration.web.conftest import HERE, Site, enter

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator

    import httpx

    from tests.integration.pipeline.support import House

OPEN_TO_ALL = {"/sign-in"}


def routes() -> Iterator[tuple[str, str]]:
    """Yield method and path of every route of pages and API."""
    for prefix, modules in (("/api", api.MODULES), ("", pages.MODULES)):
        for module in modules:
            for route in module.router.routes:
                assert isinstance(route, APIRoute)
                if route.path not in OPEN_TO_ALL:
                    path = prefix + route.path.replace("{", "").replace("}", "")
                    yield from ((method, path) for method in route.methods or ())


#: what a viewer may send: going, and asking what a change would do
HARMLESS = {"/sign-out", "/aliases/preview", "/api/identity/preview"}
WRITING = sorted(each for each in routes() if each[0] != "GET" and each[1] not in HARMLESS)


async def test_a_link_opens_once(served: Site) -> None:
    key = await served.doors.link(Role.OPERATOR, by="test")
    async with served.browser() as first, served.browser() as second:
        assert (await first.get("/sign-in", params={"key": key})).status_code == 200
        assert (await enter(first, key)).headers["location"] == "/"
        assert (await first.get("/")).status_code == 200
        refused = await enter(second, key)
        assert (refused.status_code, dict(refused.cookies)) == (401, {})
        assert "used already" in refused.text
        assert (await second.get("/sign-in", params={"key": key})).status_code == 401


async def test_a_link_is_forgotten_in_ten_minutes(served: Site, house: House) -> None:
    key = await served.doors.link(Role.OPERATOR, by="test")
    await house.clock.advance(LINK_HOLDS.total_seconds())
    async with served.browser() as client:
        assert (await enter(client, key)).status_code == 401


async def test_a_session_ends_when_nobody_uses_it_and_after_a_week(
    served: Site, house: House
) -> None:
    async with served.signed_in() as client:
        for _ in range(int(SESSION_HOLDS / (SESSION_IDLES / 2)) - 1):
            await house.clock.advance((SESSION_IDLES / 2).total_seconds())
            assert (await client.get("/")).status_code == 200
        await house.clock.advance((SESSION_IDLES / 2).total_seconds())
        assert (await client.get("/")).status_code == 401
    async with served.signed_in() as client:
        await house.clock.advance(SESSION_IDLES.total_seconds())
        assert (await client.get("/")).status_code == 401


async def test_signing_out_ends_the_session_also_for_who_kept_the_cookie(served: Site) -> None:
    async with served.signed_in() as client:
        cookie = client.cookies[served.doors.cookie]
        assert (await client.post("/sign-out")).status_code == 303
        assert served.doors.cookie not in client.cookies
        client.cookies.set(served.doors.cookie, cookie)
        assert (await client.get("/")).status_code == 401


async def test_all_can_be_signed_out_at_once(served: Site) -> None:
    async with served.signed_in() as client, served.program(Role.VIEWER) as program:
        assert await served.doors.close_all(by="test") == 2
        assert (await client.get("/")).status_code == 401
        assert (await program.get("/api/health")).status_code == 401


async def test_a_cookie_of_somebody_else_s_making_opens_nothing(served: Site) -> None:
    async with served.browser() as client:
        for made in (b"", b"x", b"ImFiYyI.AAAA", b'"abc".x', b"\x80"):
            cookie = served.doors.cookie.encode() + b"=" + made
            assert (await client.get("/", headers=[(b"Cookie", cookie)])).status_code == 401


async def test_the_cookie_stays_here_and_is_hidden_from_scripts(served: Site) -> None:
    key = await served.doors.link(Role.VIEWER, by="test")
    async with served.browser() as client:
        flags = (await enter(client, key)).headers["set-cookie"]
    assert "HttpOnly" in flags
    assert "SameSite=strict" in flags
    assert "Secure" not in flags


async def test_behind_tls_the_cookie_travels_by_tls_alone(served: Site) -> None:
    key = await served.doors.link(Role.VIEWER, by="test")
    async with served.browser() as client:
        client.headers["X-Forwarded-Proto"] = "https"
        assert "Secure" in (await enter(client, key)).headers["set-cookie"]


async def test_nobody_signs_in_where_others_read_along(house: House, served: Site) -> None:
    key = await served.doors.link(Role.OPERATOR, by="test")
    async with served.browser() as client:
        client.headers["X-Forwarded-Proto"] = "http"
        refused = await client.get("/sign-in", params={"key": key})
        assert (refused.status_code, (await enter(client, key)).status_code) == (403, 403)
        assert "TLS" in refused.text
        del client.headers["X-Forwarded-Proto"]
        assert (await enter(client, key)).status_code == 303


async def test_what_is_stored_opens_nothing(served: Site, house: House) -> None:
    token = await served.doors.token(Role.VIEWER, holds=timedelta(days=1), by="test")
    key = await served.doors.link(Role.VIEWER, by="test")
    async with served.signed_in() as client:
        stored = house.stored_bytes()
        for shown in (token, key, client.cookies[served.doors.cookie].partition(".")[0]):
            assert shown.encode() not in stored
        for (hash_,) in house.rows("SELECT hash FROM web_key"):
            assert (await enter(client, hash_)).status_code == 401


async def refusals(client: httpx.AsyncClient, which: Iterable[tuple[str, str]]) -> set[int]:
    """Return the statuses of all those routes."""
    return {(await client.request(*each, json={})).status_code for each in which}


async def test_nobody_comes_in_unknown(served: Site) -> None:
    async with served.browser() as client:
        assert await refusals(client, routes()) == {401}


async def test_a_wrong_token_opens_nothing_anywhere(served: Site, house: House) -> None:
    async with served.browser() as client:
        client.headers["Authorization"] = "Bearer wrong"
        for method, path in routes():
            assert (await client.request(method, path)).status_code == 401
            await house.clock.advance(WITHIN)


async def test_a_viewer_changes_nothing(served: Site) -> None:
    async with served.signed_in(Role.VIEWER) as client, served.program(Role.VIEWER) as program:
        assert await refusals(client, WRITING) == {403}
        assert await refusals(program, WRITING) == {403}


#: bodies that cannot be read, with what they say they are
MALFORMED = (
    ("application/json", b"{"),
    ("application/json", b'{"x": 1}'),
    ("multipart/form-data", b"no boundary"),
    ("multipart/form-data; boundary=x", b"--x\r\nno header"),
    ("application/x-www-form-urlencoded", b"%zz=\xff&=&&"),
)


async def test_rights_are_judged_before_anything_is_read(served: Site) -> None:
    """Whoever has no rights learns nothing of what a route makes of its body."""
    async with (
        served.browser() as nobody,
        served.signed_in(Role.VIEWER) as viewer,
        served.program(Role.VIEWER) as program,
    ):
        for kind, body in MALFORMED:
            headers = {"Content-Type": kind}
            for method, path in (each for each in routes() if each[0] != "GET"):
                answer = await nobody.request(method, path, content=body, headers=headers)
                assert answer.status_code == 401, (path, kind)
            for method, path in WRITING:
                for client in (viewer, program):
                    answer = await client.request(method, path, content=body, headers=headers)
                    assert answer.status_code == 403, (path, kind)
                    assert "operator" in answer.text


async def test_a_form_of_another_page_changes_nothing(served: Site) -> None:
    async with served.signed_in() as client:
        client.headers["X-Proof"] = "made up"
        assert await refusals(client, WRITING) == {403}
        del client.headers["X-Proof"]
        assert await refusals(client, WRITING) == {403}
        for method, path in WRITING:
            answer = await client.request(method, path, data={"proof": "0" * 64})
            assert answer.status_code == 403


async def test_another_site_changes_nothing_even_with_the_proof(served: Site) -> None:
    async with served.signed_in() as client:
        for site in ("cross-site", "same-site"):
            client.headers["Sec-Fetch-Site"] = site
            assert (await client.post("/sign-out")).status_code == 403
        client.headers["Sec-Fetch-Site"] = "same-origin"
        assert (await client.post("/sign-out")).status_code == 303


async def test_wrong_keys_have_to_wait(served: Site, house: House) -> None:
    key = await served.doors.link(Role.OPERATOR, by="test")
    async with served.browser() as client, served.browser(address="10.0.0.9") as other:
        for _ in range(WRONG):
            assert (await enter(client, "wrong")).status_code == 401
        limited = await enter(client, key)
        assert limited.status_code == 429
        assert 0 < int(limited.headers["Retry-After"]) <= WITHIN
        client.headers["Authorization"] = "Bearer wrong"
        assert (await client.get("/api/health")).status_code == 429
        assert (await other.get("/sign-in", params={"key": key})).status_code == 200
        await house.clock.advance(WITHIN)
        assert (await enter(client, key)).status_code == 303


async def test_other_sites_cannot_make_the_operator_wait(served: Site) -> None:
    async with served.browser() as client:
        client.headers["Sec-Fetch-Site"] = "cross-site"
        for _ in range(WRONG + 1):
            assert (await client.get("/sign-in?key=x")).status_code == 401


async def test_only_names_of_this_machine_are_served(served: Site) -> None:
    ours = ("127.0.0.1:8787", "localhost", "LOCALHOST:1", "[::1]:8787")
    others = ("rebound.example:8787", "127.0.0.1.example", "192.0.2.7", "")
    async with served.browser() as client:
        for path in ("/", "/api/health"):
            for host in (*ours, *others):
                answer = await client.get(path, headers={"Host": host})
                assert answer.status_code == (401 if host in ours else 421), host


async def test_reached_from_elsewhere_it_needs_tls_in_front(house: House) -> None:
    house.configure(web={"enabled": True, "host": "0.0.0.0"})
    gateway, over = house.assemble(), asyncio.Event()
    assert gateway.page is not None
    site = Site(gateway.page)
    key = await site.doors.link(Role.OPERATOR, by="test")
    async with site.browser(address="192.0.2.9", base="http://192.0.2.7:8787") as client:
        assert (await client.get("/", headers={"Host": "rebound.example"})).status_code == 421
        assert (await client.get("/")).status_code == 401
        assert (await enter(client, key)).status_code == 403
        client.headers["X-Forwarded-Proto"] = "https"
        assert "Secure" in (await enter(client, key)).headers["set-cookie"]
    over.set()
    await gateway.run(over)


async def test_a_body_has_a_length_and_not_too_much_of_it(served: Site) -> None:
    async def pieces() -> AsyncGenerator[bytes, None]:
        yield b"key=x"

    async with served.browser() as client:
        assert (await client.post("/sign-in", content=pieces())).status_code == 411
        long = {"key": "x" * LARGEST}
        assert (await client.post("/sign-in", data=long)).status_code == 413


async def test_every_coming_and_going_is_audited(served: Site, house: House) -> None:
    async with served.signed_in() as client:
        await client.post("/sign-out")
    rows = house.rows("SELECT actor, action FROM audit ORDER BY id")
    assert [action for _, action in rows] == ["web.link_made", "web.signed_in", "web.signed_out"]
    assert rows[0][0] == "test"
    assert rows[1][0] == rows[2][0]
    assert rows[1][0].startswith("page ")


def test_the_address_is_this_machine(served: Site) -> None:
    assert served.page.address == HERE
