"""Plain requests within one workspace, and patience."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx


class Api:
    """Requests within one workspace: ``api.post("peers", {...})``."""

    def __init__(self, client: httpx.Client, workspace: str) -> None:
        self._client = client
        self.workspace = workspace
        self.base = f"/v3/workspaces/{workspace}"

    def get(self, path: str, **query: object) -> httpx.Response:
        return self._client.get(self._at(path), params=_texts(query))

    def post(self, path: str, body: object = None, **query: object) -> httpx.Response:
        return self._client.post(self._at(path), json=body, params=_texts(query))

    def put(self, path: str, body: object) -> httpx.Response:
        return self._client.put(self._at(path), json=body)

    def delete(self, path: str, body: object = None) -> httpx.Response:
        return self._client.request("DELETE", self._at(path), json=body)

    def say(self, session: str, *said: tuple[str, str]) -> httpx.Response:
        """Store messages: pairs of peer and text."""
        messages = [{"peer_id": peer, "content": text} for peer, text in said]
        return self.post(f"sessions/{session}/messages", {"messages": messages})

    def _at(self, path: str) -> str:
        return f"{self.base}/{path}".rstrip("/")


def _texts(query: dict[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in query.items()}


def eventually(reached: Callable[[], bool], patience: float) -> bool:
    """Ask again until ``reached()`` or ``patience`` seconds are over."""
    deadline = time.monotonic() + patience
    while not reached():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
