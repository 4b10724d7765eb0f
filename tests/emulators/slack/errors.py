"""Refusals as the Web API gives them: HTTP 200 and a code, except for rate limits."""

from __future__ import annotations

from typing import Any


class SlackError(Exception):
    """A refusal: ``{"ok": false, "error": code, …}``."""

    def __init__(self, code: str, *, retry_after: int | None = None, **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.retry_after = retry_after
        self.facts = facts

    @property
    def status(self) -> int:
        """The HTTP status: 429 with ``retry_after``, else 200."""
        return 200 if self.retry_after is None else 429

    @property
    def headers(self) -> dict[str, str]:
        """``Retry-After``, where the refusal has one."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}

    def body(self) -> dict[str, Any]:
        """Return the JSON body of the answer."""
        return {"ok": False, "error": self.code, **self.facts}
