"""What an error of ours means in HTTP, for pages and API alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.errors import (
    ConfigurationError,
    MemoryRejectedError,
    MemoryServiceError,
    StoreError,
)
from gateway.pipeline.deliveries import DeliveryError
from gateway.pipeline.explain import UnknownTurnError
from gateway.pipeline.pairing import PairingError
from gateway.web.access import NotAllowedError, NotSignedInError, TooManyTriesError
from gateway.web.identity import UnknownPersonError
from gateway.web.linking import NoLinkError
from gateway.web.pairing import NotLetInError
from gateway.web.remembering import NotRevealedError, NoWriteError
from gateway.web.sessions import UnknownSessionError

if TYPE_CHECKING:
    from gateway.model.errors import GatewayError

#: the first that fits
_STATUS: tuple[tuple[type[GatewayError], int], ...] = (
    (NotSignedInError, 401),
    (NotAllowedError, 403),
    (TooManyTriesError, 429),
    (UnknownTurnError, 404),
    (UnknownSessionError, 404),
    (NotLetInError, 404),
    (UnknownPersonError, 404),
    (NotRevealedError, 403),
    (NoLinkError, 404),
    (NoWriteError, 404),
    (DeliveryError, 409),
    (PairingError, 409),
    (ConfigurationError, 422),
    (MemoryRejectedError, 422),
    (MemoryServiceError, 503),
    (StoreError, 503),
)


def status_of(error: GatewayError) -> int:
    """Return the status that an answer with this error has."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 409)


def headers_of(error: GatewayError) -> dict[str, str]:
    """Return what the client should know besides."""
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, NotSignedInError) else {}
    if error.retry_after is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    return headers
