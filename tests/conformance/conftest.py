"""Which memory service is asked, and clients for it.

``--memory-url`` and ``--memory-key`` name a running service, which keeps nothing of the tests
but empty workspaces; without them the embedded one is started, on both databases.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

import honcho
import httpx
import pytest

from gateway.store import migrate
from gateway.store.engine import PostgresStore
from gateway.store.sqlite import SqliteStore
from tests.conformance.api import Api
from tests.conformance.embedded import Server, running
from tests.contract import conftest as databases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gateway.store.engine import Store

postgres_server = databases.postgres_server

_OPTIONS = {
    "--memory-url": ("address of a memory service, without /v3", str, ""),
    "--memory-key": ("its key, when it asks for one", str, ""),
    "--eventually": ("seconds that it may take to derive; 0 asks for nothing derived", float, 0.0),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    for name, (text, kind, default) in _OPTIONS.items():
        parser.addoption(name, help=text, type=kind, default=default)


def _option(config: pytest.Config, name: str) -> str:
    return str(config.getoption(name, default=_OPTIONS[name][2]))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "server" in metafunc.fixturenames:
        given = _option(metafunc.config, "--memory-url")
        params = ["given"] if given else databases.BOTH
        metafunc.parametrize("server", params, indirect=True, scope="session")


@pytest.fixture(scope="session")
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The memory service that is asked."""
    if request.param == "given":
        url, key, derives = (_option(request.config, name) for name in _OPTIONS)
        yield Server(url.rstrip("/"), key, 30.0, float(derives), ours=False)
        return
    opened: Callable[[], Store]
    if request.param == "sqlite":
        path = tmp_path_factory.mktemp("memory") / "gateway.db"
        opened = lambda: _migrated(SqliteStore(path))  # noqa: E731
    else:
        address = request.getfixturevalue("postgres_server")
        url = databases.text(databases.create_database(address))
        opened = lambda: _migrated(PostgresStore(url))  # noqa: E731
    with running(opened) as served:
        yield served


def _migrated(store: Store) -> Store:
    migrate.upgrade(store.engine)
    return store


@pytest.fixture
def workspace(server: Server, raw: httpx.Client) -> Iterator[str]:
    """A workspace of this test's own, emptied afterwards."""
    name = f"conformance-{secrets.token_hex(6)}"
    yield name
    base = f"/v3/workspaces/{name}"
    listed = raw.post(f"{base}/sessions/list", params={"size": 100}).json()
    for session in listed.get("items", []):
        raw.delete(f"{base}/sessions/{session['id']}")
    raw.delete(base)


@pytest.fixture(scope="session")
def raw(server: Server) -> Iterator[httpx.Client]:
    """A plain client with the key."""
    headers = {"Authorization": f"Bearer {server.key}"} if server.key else {}
    with httpx.Client(base_url=server.url, headers=headers, timeout=30, trust_env=False) as client:
        yield client


@pytest.fixture
def api(raw: httpx.Client, workspace: str) -> Api:
    """The plain client within the workspace."""
    return Api(raw, workspace)


@pytest.fixture
def client(server: Server, workspace: str) -> Iterator[honcho.Honcho]:
    """The official client, unmodified, in the workspace."""
    made = honcho.Honcho(
        base_url=server.url,
        api_key=server.key or "none",
        workspace_id=workspace,
        timeout=30,
        max_retries=0,
    )
    yield made
    with suppress(RuntimeError):
        made._http.close()
