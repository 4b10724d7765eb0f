"""Files that a model hands over: documents by a tool, pictures it made, once over all runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from gateway.agent.handing import NAME, handed, tool
from gateway.agent.prompt import Persona
from gateway.agent.run import ModelAgent
from gateway.agent.tools import adapt
from gateway.policy.documents import LARGEST, MOST
from tests.unit.agent.samples import CrashError, FixedModel, MemoryLog, ask

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.messages import ModelMessage

PLAN = ("plan.md", "# The plan\n\nWalk the dog.")


class Writer:
    """A model that calls ``send_file`` with these, all at once, and then says what came of it."""

    def __init__(self, *documents: tuple[str, str]) -> None:
        self.documents = documents
        self.requests = 0

    async def stream(
        self, messages: list[ModelMessage], _info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        self.requests += 1
        results = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if results:
            yield "; ".join(str(part.content) for part in results)
            return
        for index, (name, content) in enumerate(self.documents):
            arguments = json.dumps({"name": name, "content": content})
            yield {index: DeltaToolCall(NAME, arguments, tool_call_id=f"c{index}")}

    @property
    def agent(self) -> ModelAgent:
        model = FunctionModel(stream_function=self.stream)
        return ModelAgent(FixedModel(model), Persona(), tools=adapt([tool()]))


async def test_a_document_goes_along_with_the_answer() -> None:
    answer = await ask(Writer(PLAN).agent, "write a plan")
    assert [(file.label, file.mime) for file in answer.files] == [("plan.md", "text/markdown")]
    assert answer.files[0].data.decode() == PLAN[1]
    assert "plan.md goes out with your answer" in answer.text


async def test_a_run_after_a_crash_hands_over_the_same_once() -> None:
    writer, log = Writer(PLAN, ("list.csv", "a,b")), MemoryLog(crash_at=2)
    with pytest.raises(CrashError):
        await ask(writer.agent, "write a plan", log=log)
    log.crash_at = -1
    answer = await ask(writer.agent, "write a plan", log=log)
    assert [file.label for file in answer.files] == ["plan.md", "list.csv"]
    again = await ask(writer.agent, "write a plan", log=log)  # all of it was committed
    assert again.files == answer.files
    assert writer.requests == 3


@pytest.mark.parametrize(
    ("content", "told"), [("  \n", "would be empty"), ("x" * (LARGEST + 1), "split it")]
)
async def test_what_cannot_be_sent_is_told_to_the_model(content: str, told: str) -> None:
    answer = await ask(Writer(("notes.txt", content)).agent, "write")
    assert told in answer.text
    assert answer.files == ()


async def test_at_most_so_many_files_go_along() -> None:
    many = [(f"part-{number}.txt", str(number)) for number in range(MOST + 2)]
    answer = await ask(Writer(*many).agent, "write")
    assert len(answer.files) == MOST


def test_pictures_that_the_model_made_go_along() -> None:
    picture = FilePart(content=BinaryContent(b"\x89PNG", media_type="image/png"))
    odd = FilePart(content=BinaryContent(b"MZ", media_type="application/x-msdownload"))
    said = ModelResponse(parts=[TextPart("here"), picture, odd])
    (file,) = handed([said])
    assert (file.label, file.mime, file.data) == ("picture-1.png", "image/png", b"\x89PNG")


def test_a_call_that_failed_or_never_ended_sends_nothing() -> None:
    call = ToolCallPart(NAME, {"name": "a.md", "content": "x"}, tool_call_id="c1")
    failed = ToolReturnPart(NAME, "no", tool_call_id="c1", outcome="failed")
    assert handed([ModelResponse(parts=[call]), ModelRequest(parts=[failed])]) == ()
    assert handed([ModelResponse(parts=[call])]) == ()
