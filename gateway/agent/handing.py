"""Files that a model hands to its person: documents it writes by a tool, pictures it makes.

A document is the arguments of its call. The call is committed with the model's step, so a run
that goes on from the steps hands over the same files, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import FilePart, ModelRequest, ModelResponse, ToolReturnPart

from gateway.model.errors import ToolError
from gateway.model.files import MadeFile
from gateway.policy.documents import LARGEST, MOST
from gateway.ports import AgentTool
from gateway.text.clean import blank
from gateway.text.labels import document_label, picture_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic_ai.messages import ModelMessage, ToolCallPart

    from gateway.ports import TurnRequest

NAME = "send_file"
_DESCRIPTION = (
    "Send the person a text document (md, txt, csv, json, code …) with your answer: for tables, "
    "lists and texts they will want to keep or that are long for a chat. Do not repeat it in "
    f"the answer. At most {MOST} files."
)


def tool() -> AgentTool:
    """Return the tool; the file goes out with the answer of the turn, if there is one."""
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "content": {"type": "string"}},
        "required": ["name", "content"],
        "additionalProperties": False,
    }
    return AgentTool(NAME, _DESCRIPTION, schema, _call, lambda _request: True)


async def _call(_request: TurnRequest, arguments: Mapping[str, Any]) -> str:
    content = str(arguments["content"])
    size = len(content.encode(errors="replace"))
    if blank(content):
        raise ToolError("the file would be empty: give its whole content")
    if size > LARGEST:
        raise ToolError(f"the file has {size:,} bytes, the most is {LARGEST:,}: split it")
    label, _ = document_label(str(arguments["name"]))
    return f"{label} goes out with your answer."


def handed(messages: Sequence[ModelMessage]) -> tuple[MadeFile, ...]:
    """Return the files of a turn's steps in order: of calls that succeeded, and made pictures."""
    done = {
        part.tool_call_id
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart) and part.outcome == "success"
    }
    made = (file for message in messages for file in _of(message, done))
    return tuple(dict.fromkeys(made))[:MOST]


def _of(message: ModelMessage, done: set[str]) -> Iterator[MadeFile]:
    if not isinstance(message, ModelResponse):
        return
    for call in message.tool_calls:
        if call.tool_name == NAME and call.tool_call_id in done:
            yield _document(call)
    pictures = [part.content for part in message.parts if isinstance(part, FilePart)]
    for ordinal, content in enumerate(pictures):
        if label := picture_label(content.media_type, ordinal):
            yield MadeFile(label, content.media_type, content.data)


def _document(call: ToolCallPart) -> MadeFile:
    arguments = call.args_as_dict()
    label, mime = document_label(str(arguments["name"]))
    return MadeFile(label, mime, str(arguments["content"]).encode(errors="replace"))
