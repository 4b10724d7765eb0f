"""What every request passes before anything looks at it, and what every answer carries."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

from gateway.policy.hosts import is_literal, is_loopback

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: nothing from elsewhere, nothing inline, in no frame
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
#: bytes of the largest body that any form needs
LARGEST = 64 * 1024
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITE = frozenset({"", "same-origin", "none"})


class Guard:
    """Refuses foreign host names, requests of other sites and large bodies; adds the headers.

    A page of somewhere else whose name suddenly leads here (DNS rebinding) brings its own name,
    so only names of this machine are served.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._names = names_of(host)
        self._literals = not is_loopback(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            return
        problem = self._problem(scope["method"], Headers(scope=scope))

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                _mark(MutableHeaders(scope=message))
            await send(message)

        if problem is None:
            await self._app(scope, receive, guarded)
        else:
            await PlainTextResponse(problem[1], problem[0])(scope, receive, guarded)

    def _problem(self, method: str, headers: Headers) -> tuple[int, str] | None:
        if not self._ours(headers.get("host", "")):
            return 421, "This host name is not served here. See web.host in config.yaml.\n"
        if method in _SAFE:
            return None
        if headers.get("sec-fetch-site", "") not in _OWN_SITE:
            return 403, "This came from another site.\n"
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or not length.isdecimal():
            return 411, "A body needs its length.\n"
        return (413, "This is too long.\n") if int(length) > LARGEST else None

    def _ours(self, given: str) -> bool:
        name = name_of(given)
        return name in self._names or (self._literals and is_literal(name))


def _mark(headers: MutableHeaders) -> None:
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("Cache-Control", "no-store")


def name_of(host: str) -> str:
    """Return the name in a Host header, without its port and brackets, in lower case."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower().rstrip(".")


def names_of(host: str) -> frozenset[str]:
    """Return the names under which a gateway that listens at ``host`` is served."""
    here = {"localhost", "127.0.0.1", "::1", host.lower()}
    if not is_loopback(host):
        here |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset(here)
