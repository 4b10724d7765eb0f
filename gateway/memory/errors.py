"""What a failed request to the memory service means: one table for statuses, one for transport.

Nothing that the service or its library says of an error is passed on: its texts hold the very
message that was refused.
"""

from __future__ import annotations

import httpx

from gateway.model.errors import (
    MemoryAmbiguousError,
    MemoryCredentialsError,
    MemoryGoneError,
    MemoryLimitedError,
    MemoryRejectedError,
    MemoryServiceError,
    MemoryUnavailableError,
    MemoryUnsupportedError,
)

#: seconds to wait when the service asks to wait and does not say how long, and at most
UNTOLD, LONGEST = 2.0, 60.0
#: code of a request that was not answered in time: the service may be at it for long
TIMEOUT = "memory_timeout"

#: first and last status → error and what the operator is told; the most specific first
_STATUSES: tuple[tuple[int, int, type[MemoryServiceError], str], ...] = (
    (401, 401, MemoryCredentialsError, "does not accept the key: check apiKey in honcho.json"),
    (403, 403, MemoryCredentialsError, "does not let this key in: use a key for the workspace"),
    (404, 404, MemoryGoneError, "does not know what was asked for"),
    (405, 405, MemoryUnsupportedError, "does not offer this request"),
    (408, 408, MemoryAmbiguousError, "gave up waiting for the request"),
    (501, 501, MemoryUnsupportedError, "does not offer this request"),
    (100, 399, MemoryUnavailableError, "is not at this address: check baseUrl in honcho.json"),
    (400, 400, MemoryRejectedError, "refused the content"),
    (413, 415, MemoryRejectedError, "refused the content"),
    (422, 422, MemoryRejectedError, "refused the content"),
    (400, 499, MemoryUnavailableError, "does not serve this workspace now"),
    (500, 999, MemoryAmbiguousError, "failed while it worked on the request"),
)

_NO_KEY = "asks for a key and none is sent: write apiKey beside its baseUrl in honcho.json"

#: what broke underneath → error, its code and what the operator is told; most specific first
_TRANSPORT: tuple[
    tuple[tuple[type[BaseException], ...], type[MemoryServiceError], str, str], ...
] = (
    (
        (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError),
        MemoryUnavailableError,
        MemoryUnavailableError.code,
        "cannot be reached",
    ),
    (
        (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError),
        MemoryUnavailableError,
        "memory_address",
        "has no usable address: check baseUrl in honcho.json",
    ),
    ((httpx.TimeoutException,), MemoryAmbiguousError, TIMEOUT, "did not answer in time"),
    (
        (httpx.HTTPError, httpx.StreamError),
        MemoryAmbiguousError,
        MemoryAmbiguousError.code,
        "broke the connection",
    ),
)


def from_status(
    status: int, retry_after: float | None = None, *, keyed: bool = True
) -> MemoryServiceError:
    """Return the error for an answer that is none; ``keyed``: a key was sent."""
    if status == httpx.codes.UNAUTHORIZED and not keyed:
        return MemoryCredentialsError(_told(_NO_KEY, status))
    if status == httpx.codes.TOO_MANY_REQUESTS:
        wait = min(UNTOLD if retry_after is None else max(0.0, retry_after), LONGEST)
        return MemoryLimitedError(_told("asked to wait", status), retry_after=wait)
    for first, last, kind, what in _STATUSES:
        if first <= status <= last:
            return kind(_told(what, status))
    return not_understood()


def from_cause(cause: BaseException | None) -> MemoryServiceError:
    """Return the error for a request that got no answer, or none that was Honcho's."""
    for causes, kind, code, what in _TRANSPORT:
        if isinstance(cause, causes):
            return kind(f"the memory service {what} ({type(cause).__name__})", code=code)
    return not_understood()


def not_understood() -> MemoryServiceError:
    """Return the error for an answer that is not Honcho's: the request may have been done."""
    return MemoryAmbiguousError(
        "the memory service answered something else than Honcho would: check baseUrl in "
        "honcho.json",
        code="memory_answer",
    )


def _told(what: str, status: int) -> str:
    return f"the memory service {what} (HTTP {status})"
