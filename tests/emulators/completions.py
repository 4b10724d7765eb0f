"""The OpenAI wire format: answers, stream chunks, usage, errors; and a model of simple mind."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

#: fixed, so that equal requests get equal bytes
CREATED = 1_795_982_000

_NAME_ASKED = re.compile(r"\bwhat(?:'s| is) my name\b", re.IGNORECASE)
_NAME_TOLD = re.compile(r"\bmy name is (\w[\w'-]*)", re.IGNORECASE)

_ERROR_TYPES = {
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    429: ("rate_limit_error", "rate_limit_exceeded", "Rate limit reached."),
}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for; ``arguments`` is JSON text, however broken."""

    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model says. ``finish`` is worked out unless given (``length``, …)."""

    text: str = ""
    tools: tuple[ToolCall, ...] = ()
    finish: str = ""

    @property
    def finish_reason(self) -> str:
        """Why the answer ends."""
        return self.finish or ("tool_calls" if self.tools else "stop")

    def pieces(self) -> list[str]:
        """Return the text in the tokens in which it is streamed: words with their spaces."""
        return re.findall(r"\s*\S+|\s+$", self.text)


def text_of(message: Json) -> str:
    """Return a message's text, whether it is one string or parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def simple_answer(body: Json) -> Completion:
    """Answer from the request alone: the name told earlier if asked for it, else an echo."""
    said = [text_of(message) for message in body["messages"] if message["role"] == "user"]
    last = said[-1] if said else ""
    if not _NAME_ASKED.search(last):
        return Completion(f"You said: {last}")
    told = [name for text in said for name in _NAME_TOLD.findall(text)]
    return Completion(f"Your name is {told[-1]}." if told else "I do not know your name.")


def usage(body: Json, completion: Completion) -> Json:
    """Return token counts: a fixed function of the request and the answer."""
    prompt = len(json.dumps(body["messages"])) // 4
    answer = len(completion.pieces()) + sum(len(call.arguments) // 4 for call in completion.tools)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
    }


def whole(number: int, body: Json, completion: Completion) -> Json:
    """Return the body of an answer that is not streamed."""
    message: Json = {"role": "assistant", "content": completion.text or None, "refusal": None}
    if completion.tools:
        message["tool_calls"] = _tool_calls(number, completion)
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": completion.finish_reason,
        "logprobs": None,
    }
    envelope = _envelope(number, body, "chat.completion")
    return envelope | {"choices": [choice], "usage": usage(body, completion)}


def chunks(number: int, body: Json, completion: Completion) -> Iterator[Json]:
    """Yield the chunks of a streamed answer: one per token, usage last if it was asked for."""
    envelope = _envelope(number, body, "chat.completion.chunk")
    for delta in _deltas(number, completion):
        choice = {"index": 0, "delta": delta, "finish_reason": None, "logprobs": None}
        yield envelope | {"choices": [choice]}
    end = {"index": 0, "delta": {}, "finish_reason": completion.finish_reason, "logprobs": None}
    yield envelope | {"choices": [end]}
    if (body.get("stream_options") or {}).get("include_usage"):
        yield envelope | {"choices": [], "usage": usage(body, completion)}


def error_body(status: int, message: str = "", code: str = "") -> Json:
    """Return an error as the OpenAI API words it."""
    fallback = ("server_error", "server_error", "The server had an error.")
    if 400 <= status < 500:
        fallback = ("invalid_request_error", "invalid_request", "Invalid request.")
    kind, usual_code, usual_message = _ERROR_TYPES.get(status, fallback)
    error = {"message": message or usual_message, "type": kind, "param": None}
    return {"error": error | {"code": code or usual_code}}


def _envelope(number: int, body: Json, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{number}",
        "object": kind,
        "created": CREATED,
        "model": body.get("model", ""),
    }


def _deltas(number: int, completion: Completion) -> Iterator[Json]:
    yield {"role": "assistant", "content": "" if completion.text else None}
    for piece in completion.pieces():
        yield {"content": piece}
    for index, call in enumerate(_tool_calls(number, completion)):
        arguments = call["function"]["arguments"]
        opened = call["function"] | {"arguments": ""}
        yield {"tool_calls": [{"index": index, **call, "function": opened}]}
        half = len(arguments) // 2
        for part in (arguments[:half], arguments[half:]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def _tool_calls(number: int, completion: Completion) -> list[Json]:
    return [
        {
            "id": f"call_{number}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for index, call in enumerate(completion.tools)
    ]
