"""The page beside a running gateway: its port, its probes, its way back to the same services."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing
from typing import TYPE_CHECKING

import httpx
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from gateway.cli.main import cli
from gateway.web.doors import Role
from gateway.web.server import AGAIN
from tests.fakes.household import MIRA
from tests.integration.web.conftest import running

if TYPE_CHECKING:
    import pytest

    from tests.integration.pipeline.support import House
    from tests.integration.web.conftest import Site


def a_port() -> socket.socket:
    """Take a free port."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    return taken


def command(house: House, monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str]:
    """Run a command for this home; return its exit code and all it said."""
    monkeypatch.setenv("HERMES_HOME", str(house.home.path))
    monkeypatch.setenv("HOME", str(house.home.user))
    result = CliRunner().invoke(cli, words)
    return result.exit_code, result.output


async def test_a_taken_port_stops_the_page_alone(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(a_port()) as taken:
        port = taken.getsockname()[1]
        house.configure(web={"enabled": True, "port": port})
        async with house.running() as gateway:
            house.tg.say("hello", user=MIRA)
            assert await house.answers(1) == ["re: hello"]
            assert gateway.page is not None
            assert str(house.home.config) in gateway.page.problem
            code, told = await asyncio.to_thread(command, house, monkeypatch, "status")
            assert (code, f"page      none: 127.0.0.1:{port}" in told) == (0, True)
            code, told = await asyncio.to_thread(command, house, monkeypatch, "web", "link")
            assert (code, "set web.port" in told) == (1, True)
            taken.close()
            await house.clock.advance(AGAIN)
            async with httpx.AsyncClient(base_url=gateway.page.address) as client:
                await house.until(lambda: not gateway.page or not gateway.page.problem, "a page")
                assert (await client.get("/healthz")).json() == {"status": "ok"}


async def test_a_link_of_the_command_line_opens_the_running_page(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(house) as site:
        words = ("web", "link", "--role", "viewer")
        code, told = await asyncio.to_thread(command, house, monkeypatch, *words)
        # the gateway of this process may have logged between
        link = told.split()[-1]
        code, told = await asyncio.to_thread(command, house, monkeypatch, "web", "token")
        token = told.split()[-1]
        async with httpx.AsyncClient() as client:
            assert "as <strong>viewer" in (await client.get(link)).text
            headers = {"Authorization": f"Bearer {token}"}
            found = await client.get(f"{site.page.address}/api/health", headers=headers)
            assert found.json()["connections"][0]["state"] == "connected"
            code, told = await asyncio.to_thread(command, house, monkeypatch, "web", "sign-out")
            assert (code, "2 sessions" in told) == (0, True)
            found = await client.get(f"{site.page.address}/api/health", headers=headers)
            assert found.status_code == 401


async def test_where_there_is_no_page_no_link_is_made(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, told = await asyncio.to_thread(command, house, monkeypatch, "web", "link")
    assert (code, "web.enabled is false" in told) == (2, True)
    house.configure(web={"enabled": True})
    words = ("web", "link", "--role", "king")
    code, told = await asyncio.to_thread(command, house, monkeypatch, *words)
    assert (code, "viewer or operator" in told) == (2, True)
    code, told = await asyncio.to_thread(command, house, monkeypatch, "web", "link")
    assert (code, "no gateway runs here" in told, "/sign-in?key=" in told) == (0, True, True)


async def test_probes_are_for_this_machine_and_for_who_signs_in(served: Site) -> None:
    paths = ("/healthz", "/readyz", "/metrics")
    async with served.browser() as here, served.browser(address="10.0.0.9") as elsewhere:
        for path in paths:
            assert (await here.get(path)).status_code == 200
            assert (await elsewhere.get(path)).status_code == 401
            proxied = {"X-Forwarded-For": "10.0.0.9"}
            assert (await here.get(path, headers=proxied)).status_code == 401
    async with served.program(Role.VIEWER) as program:
        proxied = {"X-Forwarded-For": "10.0.0.9", **program.headers}
        assert (await program.get("/metrics", headers=proxied)).status_code == 200


async def test_metrics_are_prometheus_and_name_nobody(house: House) -> None:
    async with running(house) as site:
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        await house.settled()
        async with httpx.AsyncClient(base_url=site.page.address) as client:
            text = (await client.get("/metrics")).text
            assert (await client.get("/readyz")).json() == {"status": "ready", "problems": []}
    found = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert found["hermes_gateway_connection_up", "123456", "telegram"] == 1
    assert found["hermes_gateway_turns", "settled"] == 1
    assert found["hermes_gateway_parts", "delivered"] == 1
    assert str(MIRA) not in text
