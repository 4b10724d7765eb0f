"""An OpenAI-compatible transcription endpoint on 127.0.0.1 that hears what a test wants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.emulators.loopback import LoopbackServer

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Heard:
    """One recording as it arrived."""

    name: str
    mime: str
    content: bytes
    model: str
    key: str


class SpeechStub(LoopbackServer):
    """``async with`` it; ``base_url`` goes into ``voice.transcribe``."""

    def __init__(self) -> None:
        super().__init__()
        self.words = "hello"
        self.heard: list[Heard] = []
        #: (status, body, headers) of the next answers
        self.faults: list[tuple[int, str, dict[str, str]]] = []

    @property
    def base_url(self) -> str:
        """Address of the API, with ``/v1``."""
        return f"{self.address}/v1"

    def fail(self, status: int, body: str = "{}", *, times: int = 1) -> None:
        """Answer the next requests with a status and a body."""
        self.faults += [(status, body, {})] * times

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.post("/v1/audio/transcriptions", self._transcribe)]

    async def _transcribe(self, request: web.Request) -> web.Response:
        form: Any = await request.post()
        file = form["file"]
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        self.heard.append(
            Heard(file.filename, file.content_type, file.file.read(), form["model"], key)
        )
        file.file.close()
        self.tell_waiters()
        if self.faults:
            status, body, headers = self.faults.pop(0)
            return web.Response(status=status, text=body, headers=headers)
        return web.json_response({"text": self.words})
