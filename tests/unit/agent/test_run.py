"""The loop: steps, resumption, tools, stopping, limits; on a model made of a function."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from pydantic_ai import RunContext, Tool, models
from pydantic_ai.messages import ModelMessagesTypeAdapter, TextPart, ToolReturnPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

from gateway.agent.prompt import Persona
from gateway.agent.run import Limits, ModelAgent
from gateway.agent.steps import IDEMPOTENT
from gateway.model.errors import AgentError, GatewayError, StaleLeaseError
from gateway.ports import TurnRequest  # noqa: TC001 - tools' hints are resolved at run time
from tests.unit.agent.samples import CrashError, FixedModel, MemoryLog, ask, talk, turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models.function import AgentInfo


Script = list[list[str | tuple[str, str]]]


@pytest.fixture(autouse=True)
def _no_real_models() -> Iterator[None]:
    with models.override_allow_model_requests(False):
        yield


class Scripted:
    """A model that says these responses, one per request; ``(tool, arguments)`` is a call."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[list[ModelMessage]] = []
        self.model = FunctionModel(stream_function=self._stream, model_name="scripted")

    async def _stream(
        self, messages: list[ModelMessage], _info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        self.requests.append(list(messages))
        for index, piece in enumerate(self.script[len(self.requests) - 1]):
            if isinstance(piece, str):
                yield piece
            else:
                name, arguments = piece
                call = DeltaToolCall(name, arguments, tool_call_id=f"{name}-{index}")
                yield {index: call}

    def results(self) -> list[str]:
        """Return the tool results in the newest request."""
        parts = [part for message in self.requests[-1] for part in message.parts]
        return [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]


class Counter:
    """Two tools that count how often they ran."""

    def __init__(self) -> None:
        self.looked = 0
        self.wrote: list[str] = []

    async def look(self) -> str:
        """Look something up."""
        self.looked += 1
        return "seen"

    async def write(self, ctx: RunContext[TurnRequest]) -> str:
        """Write something down."""
        self.wrote.append(f"{ctx.deps.turn}/{ctx.tool_call_id}")
        return "written"

    @property
    def tools(self) -> list[Tool[TurnRequest]]:
        return [Tool(self.look, metadata={IDEMPOTENT: True}), Tool(self.write)]


def agent_on(
    scripted: Scripted, tools: list[Tool[TurnRequest]] | None = None, limits: Limits | None = None
) -> ModelAgent:
    return ModelAgent(FixedModel(scripted.model), Persona(), tools=tools or [], limits=limits)


def kinds(log: MemoryLog) -> list[list[str]]:
    return [[part["part_kind"] for part in json.loads(step)[0]["parts"]] for step in log.steps]


async def test_the_first_piece_and_all_others_are_emitted() -> None:
    pieces: list[str] = []
    answer = await ask(agent_on(Scripted([["Hel", "lo ", "you"]])), "Hi", pieces=pieces)
    assert (answer.text, pieces) == ("Hello you", ["Hel", "lo", " you"])
    assert (answer.model, answer.requests) == ("scripted", 1)
    assert answer.output_tokens > 0


async def test_each_step_is_committed_before_what_follows_it() -> None:
    scripted, counter, log = Scripted([["See.", ("look", "{}")], ["Done"]]), Counter(), MemoryLog()
    answer = await ask(agent_on(scripted, counter.tools), "Hi", log=log)
    assert answer.text == "See.\n\nDone"
    assert answer.requests == 2
    assert kinds(log) == [["text", "tool-call"], ["tool-return"], ["text"]]


@pytest.mark.parametrize(
    ("crash_at", "requests_before", "ran_before"), [(0, 1, 0), (1, 1, 1), (2, 2, 1)]
)
async def test_a_crash_at_any_commit_is_resumed(
    crash_at: int, requests_before: int, ran_before: int
) -> None:
    script: Script = [["See.", ("look", "{}")], ["Done"]]
    scripted, counter, log = Scripted(script), Counter(), MemoryLog(crash_at)
    agent = agent_on(scripted, counter.tools)
    with pytest.raises(CrashError):
        await ask(agent, "Hi", log=log)
    assert (len(scripted.requests), counter.looked) == (requests_before, ran_before)

    log.crash_at = -1
    scripted.requests = scripted.requests[: (crash_at + 1) // 2]  # what is committed was said
    pieces: list[str] = []
    answer = await ask(agent, "Hi", log=log, pieces=pieces)
    assert answer.text == "".join(pieces) == "See.\n\nDone"
    assert answer.requests == 2
    assert kinds(log) == [["text", "tool-call"], ["tool-return"], ["text"]]


async def test_a_finished_answer_is_not_asked_for_again() -> None:
    scripted, log = Scripted([["Done"]]), MemoryLog()
    agent = agent_on(scripted)
    first = await ask(agent, "Hi", log=log)
    assert await ask(agent, "Hi", log=log) == first
    assert len(scripted.requests) == 1


async def test_only_idempotent_calls_are_repeated() -> None:
    scripted = Scripted([[("look", "{}"), ("write", "{}")], ["Done"]])
    counter, log = Counter(), MemoryLog(crash_at=1)
    agent = agent_on(scripted, counter.tools)
    with pytest.raises(CrashError):
        await ask(agent, "Hi", log=log)
    assert (counter.looked, counter.wrote) == (1, ["t_1/write-1"])

    log.crash_at = -1
    assert (await ask(agent, "Hi", log=log)).text == "Done"
    assert (counter.looked, counter.wrote) == (2, ["t_1/write-1"])
    assert scripted.results()[0] == "seen"
    assert "may or may not have taken effect" in scripted.results()[1]


async def test_later_calls_of_a_resumed_turn_run_again() -> None:
    scripted = Scripted([[("write", "{}")], [("look", "{}"), ("write", "{}")], ["Done"]])
    counter, log = Counter(), MemoryLog(crash_at=1)
    agent = agent_on(scripted, counter.tools)
    with pytest.raises(CrashError):
        await ask(agent, "Hi", log=log)
    log.crash_at = -1
    await ask(agent, "Hi", log=log)
    assert counter.wrote == ["t_1/write-0", "t_1/write-1"]


async def test_recall_is_there_in_every_step_and_in_no_stored_one() -> None:
    scripted, counter, log = Scripted([[("look", "{}")], ["Done"]]), Counter(), MemoryLog()
    await ask(agent_on(scripted, counter.tools), turn("Hi", recall="Rex is a dog"), log=log)
    for request in scripted.requests:
        assert b"Rex is a dog" in ModelMessagesTypeAdapter.dump_json(request)
    assert "Rex" not in "".join(log.steps)


@pytest.mark.parametrize("said", [[""], [" \n"], ["\u200b"], ["```\n```"], []])
async def test_an_empty_answer_is_empty_text(said: list[str | tuple[str, str]]) -> None:
    scripted = Scripted([said or [""]])
    pieces: list[str] = []
    answer = await ask(agent_on(scripted), "Hi", pieces=pieces)
    assert (answer.text, pieces, len(scripted.requests)) == ("", [], 1)


async def test_what_was_said_before_a_tool_call_survives_silence_after_it() -> None:
    scripted = Scripted([["Noted!", ("look", "{}")], [""]])
    assert (await ask(agent_on(scripted, Counter().tools), "Hi")).text == "Noted!"


async def test_a_lost_lease_ends_the_run() -> None:
    class Lost(MemoryLog):
        async def append(self, step: str) -> None:
            raise StaleLeaseError

    with pytest.raises(StaleLeaseError):
        await ask(agent_on(Scripted([["Done"]])), "Hi", log=Lost())


async def test_a_tool_that_fails_is_told_to_the_model() -> None:
    async def look() -> str:
        """Look."""
        raise GatewayError("the memory service is away")

    scripted = Scripted([[("look", "{}")], ["Sorry"]])
    assert (await ask(agent_on(scripted, [Tool(look)]), "Hi")).text == "Sorry"
    assert scripted.results() == ["the memory service is away"]


async def test_a_tool_that_loses_the_lease_ends_the_run() -> None:
    async def look() -> str:
        """Look."""
        raise StaleLeaseError

    with pytest.raises(StaleLeaseError):
        await ask(agent_on(Scripted([[("look", "{}")]]), [Tool(look)]), "Hi")


async def test_a_loop_of_tools_ends_at_the_limit_over_all_runs() -> None:
    scripted, counter, log = Scripted([[("look", "{}")]] * 9), Counter(), MemoryLog(crash_at=3)
    agent = agent_on(scripted, counter.tools, Limits(requests=3))
    with pytest.raises(CrashError):
        await ask(agent, "Hi", log=log)
    log.crash_at = -1
    with pytest.raises(AgentError) as caught:
        await ask(agent, "Hi", log=log)
    assert caught.value.code == "request_limit"
    assert len(scripted.requests) == 3


async def test_stop_before_the_run_asks_no_model() -> None:
    scripted, stop = Scripted([["Done"]]), asyncio.Event()
    stop.set()
    answer = await ask(agent_on(scripted), "Hi", stop=stop)
    assert (answer.stopped, answer.text, scripted.requests) == (True, "", [])


async def test_stop_ends_a_tool() -> None:
    running, stop, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        """Wait."""
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    scripted = Scripted([["One moment.", ("wait", "{}")]])
    run = asyncio.create_task(ask(agent_on(scripted, [Tool(wait)]), "Hi", stop=stop))
    await running.wait()
    stop.set()
    answer = await run
    assert (answer.stopped, answer.text, ended.is_set()) == (True, "One moment.", True)


async def test_cancelling_the_run_cancels_its_work() -> None:
    running, ended = asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        """Wait."""
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    run = asyncio.create_task(ask(agent_on(Scripted([[("wait", "{}")]]), [Tool(wait)]), "Hi"))
    await running.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert ended.is_set()


async def test_history_reaches_the_model_as_messages() -> None:
    scripted = Scripted([["Done"]])
    await ask(agent_on(scripted), turn("c", history=talk("a", "A", "b", "B")))
    texts = [
        str(part.content)
        for message in scripted.requests[0]
        for part in message.parts
        if isinstance(part, TextPart) or part.part_kind == "user-prompt"
    ]
    assert texts == ["a", "A", "b", "B", "c"]


async def test_closing_the_agent_closes_its_model() -> None:
    source = FixedModel(Scripted([]).model)
    await ModelAgent(source, Persona()).aclose()
    assert source.closed
