"""The page's application over a real store, asked without a network; no gateway runs."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from typing import TYPE_CHECKING

import httpx
import pytest

from gateway.store import audit
from gateway.web import site
from gateway.web.doors import Role
from tests.integration.pipeline.conftest import (
    agent,
    empty_database,
    house,
    tg,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.store.engine import Connection
    from gateway.web.server import PageServer
    from tests.integration.pipeline.support import House

__all__ = ["agent", "empty_database", "house", "tg"]

HERE = "http://127.0.0.1:8787"


class Site:
    """The application with its doors."""

    def __init__(self, page: PageServer) -> None:
        self.page = page
        self.doors = page.parts.doors
        self.app = site.build(page.parts)

    @asynccontextmanager
    async def browser(
        self, *, address: str = "127.0.0.1", base: str = HERE
    ) -> AsyncIterator[httpx.AsyncClient]:
        """Return a client that keeps cookies, at some address."""
        transport = httpx.ASGITransport(self.app, client=(address, 50_000))
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            yield client

    @asynccontextmanager
    async def signed_in(self, role: Role = Role.OPERATOR) -> AsyncIterator[httpx.AsyncClient]:
        """Return a client that came in by a link, and brings the proof with all it sends."""
        async with self.browser() as client:
            await enter(client, await self.doors.link(role, by="test"))
            client.headers["X-Proof"] = await self.proof(client)
            yield client

    async def proof(self, client: httpx.AsyncClient) -> str:
        """Return what this client's forms bring back."""
        visitor = await self.doors.by_cookie(client.cookies[self.doors.cookie])
        assert visitor is not None
        return visitor.proof

    @asynccontextmanager
    async def program(self, role: Role) -> AsyncIterator[httpx.AsyncClient]:
        """Return a client with a token."""
        token = await self.doors.token(role, holds=timedelta(days=1), by="test")
        async with self.browser() as client:
            client.headers["Authorization"] = f"Bearer {token}"
            yield client


@asynccontextmanager
async def running(house: House) -> AsyncIterator[Site]:
    """Run a gateway with its page on a free port for as long as the block."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    house.configure(web={"enabled": True, "port": port})
    async with house.running() as gateway:
        assert gateway.page is not None
        fact = "SELECT value FROM fact WHERE name = 'page'"
        await house.until(lambda: '"open"' in "".join(house.column(fact)), "an open page")
        yield Site(gateway.page)


async def enter(client: httpx.AsyncClient, key: str) -> httpx.Response:
    """Use a one-time link up."""
    return await client.post("/sign-in", data={"key": key})


async def audited(served: Site) -> list[tuple[str, str]]:
    """Return (action, subject) of what an operator did on the page, oldest first."""

    def look(conn: Connection) -> list[tuple[str, str]]:
        known, rows = audit.people(conn), audit.listed(conn, limit=100)
        return [
            (row.action, known.get(row.subject, row.subject))
            for row in reversed(rows)
            if row.actor.startswith(("page ", "token ")) and not row.action.startswith("web.")
        ]

    return await served.page.parts.store.read(look)


@pytest.fixture
async def served(house: House) -> AsyncIterator[Site]:
    house.configure(web={"enabled": True})
    gateway = house.assemble()
    assert gateway.page is not None
    yield Site(gateway.page)
    over = asyncio.Event()
    over.set()
    await gateway.run(over)
