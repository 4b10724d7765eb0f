"""Where the memory service is, and the one pool of connections to it. Nothing is implicit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx

from gateway.model.errors import ConfigurationError
from gateway.policy.hosts import is_loopback
from gateway.settings.honcho_keys import CLOUD

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gateway.settings.honcho_schema import HonchoSettings

#: where ``environment`` is, when there is a key and no address
ENVIRONMENTS = {
    "production": CLOUD,
    "demo": "https://demo.honcho.dev",
    "local": "http://localhost:8000",
}
#: idle connections are dropped before a server would (uvicorn: 5 s), else a request may be sent
#: into one that is just being closed
_KEEP_ALIVE = 2.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One workspace of one service. An empty key is sent as none at all."""

    base_url: str
    key: str = field(repr=False)
    workspace: str
    #: seconds for a write
    timeout: float = 30.0


def endpoint_of(settings: HonchoSettings) -> Endpoint:
    """Return the endpoint that the settings name. Raises ``ConfigurationError`` without one."""
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    if not key and not settings.base_url:
        raise ConfigurationError(
            "the memory service has neither a key nor an address: set HONCHO_API_KEY in .env, or "
            "baseUrl in honcho.json"
        )
    base_url = settings.base_url or ENVIRONMENTS[settings.environment]
    return Endpoint(base_url, key, settings.workspace, settings.timeout)


def connect(
    endpoint: Endpoint, before: Callable[[], Awaitable[None]] | None = None
) -> httpx.AsyncClient:
    """Return a pool of connections; a service on this machine is never asked through a proxy.

    ``before`` is awaited before each request.
    """

    async def wait(_request: httpx.Request) -> None:
        if before is not None:
            await before()

    return httpx.AsyncClient(
        base_url=endpoint.base_url,
        event_hooks={"request": [wait]} if before is not None else {},
        limits=httpx.Limits(keepalive_expiry=_KEEP_ALIVE),
        trust_env=not is_loopback(httpx.URL(endpoint.base_url).host),
    )
