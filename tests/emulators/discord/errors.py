"""Errors as Discord's REST API words them."""

from __future__ import annotations

from typing import Any


class ApiError(Exception):
    """A refusal: HTTP status, Discord's own code, and field errors of a refused form."""

    def __init__(
        self,
        status: int,
        code: int,
        message: str,
        *,
        errors: dict[str, Any] | None = None,
        retry_after: float | None = None,
        scope: str = "user",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors
        self.retry_after = retry_after
        self.scope = scope

    def body(self) -> dict[str, Any]:
        """Return the JSON body of the answer."""
        if self.retry_after is not None:
            return {
                "message": self.message,
                "retry_after": self.retry_after,
                "global": self.scope == "global",
            }
        body: dict[str, Any] = {"message": self.message, "code": self.code}
        if self.errors is not None:
            body["errors"] = self.errors
        return body

    def headers(self) -> dict[str, str]:
        """Return the headers that only a refusal has."""
        if self.retry_after is None:
            return {}
        headers = {"Retry-After": str(self.retry_after), "X-RateLimit-Scope": self.scope}
        return headers | ({"X-RateLimit-Global": "true"} if self.scope == "global" else {})


def invalid_form(field: str, code: str, message: str) -> ApiError:
    """Return a 50035 about one field."""
    errors = {field: {"_errors": [{"code": code, "message": message}]}}
    return ApiError(400, 50035, "Invalid Form Body", errors=errors)


def rate_limited(retry_after: float, scope: str = "user") -> ApiError:
    """Return a 429; ``scope`` is ``user``, ``shared`` or ``global``."""
    message = "You are being rate limited."
    return ApiError(429, 0, message, retry_after=retry_after, scope=scope)


UNAUTHORIZED = (401, 0, "401: Unauthorized")
UNKNOWN_CHANNEL = (404, 10003, "Unknown Channel")
UNKNOWN_MEMBER = (404, 10007, "Unknown Member")
UNKNOWN_MESSAGE = (404, 10008, "Unknown Message")
UNKNOWN_INTERACTION = (404, 10062, "Unknown interaction")
UNKNOWN_WEBHOOK = (404, 10015, "Unknown Webhook")
MISSING_ACCESS = (403, 50001, "Missing Access")
FOREIGN_MESSAGE = (403, 50005, "Cannot edit a message authored by another user")
EMPTY_MESSAGE = (400, 50006, "Cannot send an empty message")
BLOCKED = (403, 50007, "Cannot send messages to this user")
LOCKED_THREAD = (400, 160005, "Thread is locked")
