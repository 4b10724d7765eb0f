"""Where the memory service is: never anywhere the operator did not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway.memory.clients import Endpoint, connect, endpoint_of
from gateway.memory.honcho import HonchoMemory
from gateway.model.errors import ConfigurationError
from gateway.settings.honcho_schema import HonchoSettings
from tests.fakes.clock import FakeClock

if TYPE_CHECKING:
    from typing import Any


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"api_key": "k"}, ("https://api.honcho.dev", "k")),
        ({"api_key": "k", "environment": "demo"}, ("https://demo.honcho.dev", "k")),
        ({"api_key": "k", "environment": "local"}, ("http://localhost:8000", "k")),
        ({"base_url": "http://nas:8000"}, ("http://nas:8000", "")),
        ({"base_url": "http://nas:8000", "api_key": "k"}, ("http://nas:8000", "k")),
    ],
)
def test_endpoints(keys: dict[str, Any], expected: tuple[str, str]) -> None:
    found = endpoint_of(HonchoSettings(**keys))
    assert (found.base_url, found.key) == expected


def test_there_is_no_implicit_endpoint() -> None:
    with pytest.raises(ConfigurationError, match="HONCHO_API_KEY"):
        endpoint_of(HonchoSettings())


def test_a_key_is_not_shown() -> None:
    assert "sesame" not in repr(Endpoint("http://nas", "sesame", "w"))


async def test_the_environment_of_the_process_names_neither_server_nor_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HONCHO_URL", "http://elsewhere")
    monkeypatch.setenv("HONCHO_API_KEY", "the-key-of-another-server")
    monkeypatch.setenv("HONCHO_WORKSPACE_ID", "elsewhere")
    endpoint = Endpoint("http://127.0.0.1:9", "", "household")
    memory = HonchoMemory(lambda: endpoint, FakeClock())
    with memory._service() as service:
        for client in (service.writer, service.reader):
            http = client._async_http_client
            assert (http.base_url, http.api_key) == ("http://127.0.0.1:9", None)
            assert client.workspace_id == "household"
            assert http.max_retries == 0
    await memory.aclose()


@pytest.mark.parametrize(
    ("url", "follows"),
    [
        ("http://127.0.0.1:8000", False),
        ("http://localhost:8000", False),
        ("http://[::1]:8000", False),
        ("https://api.honcho.dev", True),
    ],
)
async def test_no_proxy_stands_between_us_and_this_machine(url: str, follows: bool) -> None:
    async with connect(Endpoint(url, "", "w")) as pool:
        assert pool.trust_env is follows
