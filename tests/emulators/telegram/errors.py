"""Errors as the Bot API words them."""

from __future__ import annotations

from typing import Any


class ApiError(Exception):
    """A refusal: ``code`` is both HTTP status and ``error_code``."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def body(self) -> dict[str, Any]:
        """Return the JSON body of the answer."""
        body: dict[str, Any] = {
            "ok": False,
            "error_code": self.code,
            "description": self.description,
        }
        if self.parameters:
            body["parameters"] = self.parameters
        return body


def bad_request(message: str) -> ApiError:
    """Return a 400; the first letter is lowered unless it begins a CONSTANT."""
    if not (message[1:2] == "_" or message[1:2].isupper()):
        message = message[:1].lower() + message[1:]
    return ApiError(400, f"Bad Request: {message}")


def flood_wait(seconds: int) -> ApiError:
    """Return a 429 that asks to wait ``seconds``."""
    return ApiError(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)
