"""An OpenAI-compatible model server on 127.0.0.1 that says what a test wants it to say."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.emulators import completions
from tests.emulators.completions import Completion, ToolCall, simple_answer
from tests.emulators.loopback import LoopbackServer, abort
from tests.emulators.standalone import argument_parser, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Completion", "ModelStub", "ToolCall"]

Json = dict[str, Any]

CONTEXT_TOO_LONG = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in "
    "more tokens. Please reduce the length of the messages."
)


@dataclass(slots=True)
class _Fault:
    times: int
    status: int = 0
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    hang: float = 0.0
    #: tokens of a stream after which the connection breaks
    cut: int | None = None


class ModelStub(LoopbackServer):
    """``async with ModelStub() as model``; ``model.base_url`` goes into the client.

    Equal requests get equal answers. Faults are used up in the order in which they were
    planned, one per request.
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__(port, cancel_on_disconnect=True)
        self.models = ["stub-model"]
        #: when set, requests need it as their bearer token
        self.api_key = ""
        #: seconds between two chunks of a stream
        self.delay_per_token = 0.0
        #: every request body, in order; ``raw`` holds the same as bytes
        self.requests: list[Json] = []
        self.raw: list[bytes] = []
        #: requests whose client went away before the answer's end
        self.aborted = 0
        self._answer: Callable[[Json], str | Completion] = simple_answer
        self._script: list[str | Completion] = []
        self._faults: list[_Fault] = []

    @property
    def base_url(self) -> str:
        """Address of the API, with ``/v1``."""
        return f"{self.address}/v1"

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.get("/v1/models", self._list_models),
            web.post("/v1/chat/completions", self._complete),
            web.get("/_control/requests", self._show_requests),
            web.post("/_control/{action}", self._control),
        ]

    # --- what it says ---

    def reply(self, answer: str | Completion | Callable[[Json], str | Completion]) -> None:
        """Answer all requests from now on with this, or with what it makes of the body."""
        self._answer = answer if callable(answer) else lambda _body: answer

    def script(self, *answers: str | Completion) -> None:
        """Give these answers first, one for each request."""
        self._script.extend(answers)

    # --- what goes wrong ---

    def fail(
        self,
        status: int,
        body: str | Json | None = None,
        retry_after: float | None = None,
        times: int = 1,
    ) -> None:
        """Refuse the next requests; without ``body`` as the OpenAI API would word it."""
        content = completions.error_body(status) if body is None else body
        raw = content if isinstance(content, str) else json.dumps(content)
        headers = () if retry_after is None else (("Retry-After", f"{retry_after:g}"),)
        self._faults.append(_Fault(times, status, raw, headers))

    def context_too_long(self, times: int = 1) -> None:
        """Refuse the next requests because the conversation is too long."""
        body = completions.error_body(400, CONTEXT_TOO_LONG, "context_length_exceeded")
        body["error"]["param"] = "messages"
        self.fail(400, body, times=times)

    def garbage(self, body: str = "<html>captive portal</html>", times: int = 1) -> None:
        """Answer the next requests 200 with something that is no completion."""
        self.fail(200, body, times=times)

    def hang(self, seconds: float, times: int = 1) -> None:
        """Let the next requests wait before their answer begins."""
        self._faults.append(_Fault(times, hang=seconds))

    def cut(self, after: int = 0, times: int = 1) -> None:
        """Break the connection after so many chunks of a stream; 0: before any answer."""
        self._faults.append(_Fault(times, cut=after))

    # --- what became of it ---

    async def wait_for_requests(self, count: int = 1, *, timeout: float = 5.0) -> None:
        """Wait until so many requests have come; raises ``TimeoutError``."""
        if not await self.until(lambda: len(self.requests) >= count, timeout):
            raise TimeoutError(f"{len(self.requests)} requests after {timeout:g} s")

    async def wait_for_aborted(self, count: int = 1, *, timeout: float = 5.0) -> None:
        """Wait until so many clients have gone before their answer; raises ``TimeoutError``."""
        if not await self.until(lambda: self.aborted >= count, timeout):
            raise TimeoutError(f"{self.aborted} requests aborted after {timeout:g} s")

    # --- HTTP ---

    async def _list_models(self, request: web.Request) -> web.Response:
        if denied := self._denied(request):
            return denied
        listed = [
            {"id": name, "object": "model", "created": completions.CREATED, "owned_by": "stub"}
            for name in self.models
        ]
        return web.json_response({"object": "list", "data": listed})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        if denied := self._denied(request):
            return denied
        raw = await request.read()
        body = json.loads(raw)
        self.raw.append(raw)
        self.requests.append(body)
        number = len(self.requests)
        self.tell_waiters()
        try:
            return await self._respond(request, number, body)
        except (asyncio.CancelledError, ConnectionResetError):
            self.aborted += self.serving
            self.tell_waiters()
            raise

    async def _respond(self, request: web.Request, number: int, body: Json) -> web.StreamResponse:
        fault = self._next_fault()
        await asyncio.sleep(fault.hang)
        if fault.status:
            return web.Response(
                status=fault.status,
                text=fault.body,
                headers=dict(fault.headers),
                content_type="text/html" if fault.body.startswith("<") else "application/json",
            )
        if fault.cut == 0:
            return abort(request)
        if body.get("model") not in self.models:
            return web.json_response(completions.error_body(404), status=404)
        completion = self._completion(body)
        if body.get("stream"):
            return await self._stream(request, completions.chunks(number, body, completion), fault)
        return web.json_response(completions.whole(number, body, completion))

    async def _stream(
        self, request: web.Request, chunks: Iterable[Json], fault: _Fault
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for sent, chunk in enumerate(chunks):
            if sent == fault.cut:
                return abort(request)
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
            await asyncio.sleep(self.delay_per_token)
        await response.write(b"data: [DONE]\n\n")
        return response

    def _completion(self, body: Json) -> Completion:
        answer = self._script.pop(0) if self._script else self._answer(body)
        return Completion(answer) if isinstance(answer, str) else answer

    def _next_fault(self) -> _Fault:
        for fault in self._faults:
            if fault.times > 0:
                fault.times -= 1
                return fault
        return _Fault(0)

    def _denied(self, request: web.Request) -> web.Response | None:
        if not self.api_key or request.headers.get("Authorization") == f"Bearer {self.api_key}":
            return None
        return web.json_response(completions.error_body(401), status=401)

    async def _show_requests(self, _request: web.Request) -> web.Response:
        return web.json_response({"result": self.requests, "aborted": self.aborted})

    async def _control(self, request: web.Request) -> web.Response:
        action = request.match_info["action"]
        if action not in {"reply", "script", "fail", "context_too_long", "garbage", "hang", "cut"}:
            return web.json_response({"error": f"no action {action!r}"}, status=400)
        body = await request.json() if request.can_read_body else {}
        try:
            getattr(self, action)(*body.pop("answers", ()), **body)
        except TypeError as error:
            return web.json_response({"error": str(error)}, status=400)
        return web.json_response({"result": None})


async def main() -> None:
    """Serve until standard input closes."""
    options = argument_parser("openai").parse_args()
    model = ModelStub(options.port)
    await serve(model, options.max_seconds, {"base_url": model.base_url, "models": model.models})


if __name__ == "__main__":
    asyncio.run(main())
