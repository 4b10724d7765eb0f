"""The gateway's tools inside the model's loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from gateway.agent.prompt import Persona
from gateway.agent.run import ModelAgent
from gateway.agent.steps import IDEMPOTENT
from gateway.agent.tools import adapt
from gateway.model.errors import ToolError
from gateway.ports import AgentTool, TurnRequest
from tests.unit.agent.samples import FixedModel, ask

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from pydantic_ai.messages import ModelMessage

SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
    "additionalProperties": False,
}


class Asked:
    """A tool that notes what it was asked, and a model that calls it once and says the result."""

    def __init__(self, *, visible: bool = True, refuses: bool = False) -> None:
        self.calls: list[Mapping[str, Any]] = []
        self.offered: list[list[str]] = []
        self._refuses = refuses
        self.tool = AgentTool(
            "look_up", "Looks something up.", SCHEMA, self._call, lambda _request: visible
        )

    async def _call(self, _request: TurnRequest, arguments: Mapping[str, Any]) -> str:
        self.calls.append(arguments)
        if self._refuses:
            raise ToolError("not here: go on in a direct message")
        return "tea"

    async def stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        self.offered.append([tool.name for tool in info.function_tools])
        results = [
            str(part.content)
            for part in messages[-1].parts
            if part.part_kind in ("tool-return", "retry-prompt")
        ]
        if self.offered[-1] and not results:
            yield {0: DeltaToolCall("look_up", '{"query": "drink"}', tool_call_id="c1")}
        else:
            yield f"It said: {results}"

    def agent(self) -> ModelAgent:
        model = FunctionModel(stream_function=self.stream)
        return ModelAgent(FixedModel(model), Persona(), tools=adapt([self.tool]))


async def test_a_tool_gets_its_arguments_and_its_answer_reaches_the_model() -> None:
    asked = Asked()
    answer = await ask(asked.agent(), "What do I drink?")
    assert asked.calls == [{"query": "drink"}]
    assert "tea" in answer.text


async def test_an_invisible_tool_is_not_offered() -> None:
    asked = Asked(visible=False)
    await ask(asked.agent(), "What do I drink?")
    assert asked.offered == [[]]


async def test_a_refusal_is_told_to_the_model_and_ends_nothing() -> None:
    asked = Asked(refuses=True)
    answer = await ask(asked.agent(), "What do I drink?")
    assert "go on in a direct message" in answer.text


def test_what_may_be_repeated_is_marked() -> None:
    asked = Asked()
    (tool,) = adapt([asked.tool])
    assert tool.metadata == {IDEMPOTENT: True}
