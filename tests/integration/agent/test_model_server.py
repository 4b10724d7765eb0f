"""The agent against an OpenAI-compatible server over HTTP: what is sent, and what goes wrong."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from pydantic_ai import Tool

from gateway.agent.choice import Choice, Kind
from gateway.agent.models import HostedModels
from gateway.agent.prompt import Persona
from gateway.agent.run import Limits, ModelAgent
from gateway.model.errors import AgentError, Disposition
from gateway.ports import HistoryMessage
from tests.emulators.openai import Completion, ModelStub, ToolCall
from tests.unit.agent.samples import CrashError, MemoryLog, ask, talk, turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.ports import TurnRequest

KEY = {"OPENAI_API_KEY": "sk-test-key"}


@pytest.fixture
async def stub() -> AsyncIterator[ModelStub]:
    async with ModelStub() as server:
        server.api_key = KEY["OPENAI_API_KEY"]
        yield server


def choice_of(stub: ModelStub, name: str = "stub-model") -> Choice:
    return Choice(Kind.OPENAI, name=name, base_url=stub.base_url)


@pytest.fixture
async def agent(stub: ModelStub) -> AsyncIterator[ModelAgent]:
    made = make(choice_of(stub))
    yield made
    await made.aclose()


def make(
    *choices: Choice, tools: list[Tool[TurnRequest]] | None = None, timeout: float = 20.0
) -> ModelAgent:
    return ModelAgent(
        HostedModels(choices, KEY), Persona(), tools=tools or [], limits=Limits(timeout=timeout)
    )


def look() -> str:
    """Look something up."""
    return "seen"


async def test_an_answer_is_streamed_and_counted(stub: ModelStub, agent: ModelAgent) -> None:
    stub.reply("Your name is Ada.")
    pieces: list[str] = []
    answer = await ask(agent, "What is my name?", pieces=pieces)
    assert answer.text == "".join(pieces) == "Your name is Ada."
    assert len(pieces) == 4
    assert answer.model == "openai:stub-model"
    assert answer.input_tokens > 0
    assert answer.output_tokens == 4


async def test_everything_before_the_last_message_repeats_its_bytes(
    stub: ModelStub, agent: ModelAgent
) -> None:
    """Of the raw requests: each one starts with the bytes of the one before up to its words."""
    stub.reply("Well said.")
    history: tuple[HistoryMessage, ...] = ()
    for number in range(6):
        text = f"Question “{number}”"
        answer = await ask(agent, turn(text, history=history, recall=f"fact {number}"))
        history += (HistoryMessage(True, text), HistoryMessage(False, answer.text))
    for number, (earlier, later) in enumerate(zip(stub.raw, stub.raw[1:], strict=False)):
        words = f"Question “{number}”".encode()
        end = earlier.rindex(words) + len(words)
        assert later[:end] == earlier[:end]
        assert f"fact {number}".encode() in earlier
        assert f"fact {number}".encode() not in later


async def test_steps_of_one_run_only_append(stub: ModelStub) -> None:
    stub.script(Completion(tools=(ToolCall("look"),)), "Done")
    agent = make(choice_of(stub), tools=[Tool(look)])
    await ask(agent, turn("Hi", history=talk("a", "A"), recall="fact"))
    first, second = (request["messages"] for request in stub.requests)
    assert second[: len(first)] == first
    assert [message["role"] for message in second[len(first) :]] == ["assistant", "tool"]
    await agent.aclose()


async def test_one_system_message_and_alternating_roles(
    stub: ModelStub, agent: ModelAgent
) -> None:
    history = (HistoryMessage(False, "Hello"), *talk("a", "A", "lost", "", "b", "B", "open"))
    await ask(agent, turn("c", history=history))
    roles = [message["role"] for message in stub.requests[0]["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]


async def test_a_crash_between_steps_costs_no_second_request(stub: ModelStub) -> None:
    stub.script(Completion("See.", tools=(ToolCall("look"),)), "Done")
    agent, log = make(choice_of(stub), tools=[Tool(look)]), MemoryLog(crash_at=2)
    with pytest.raises(CrashError):
        await ask(agent, "Hi", log=log)
    await agent.aclose()

    stub.script("Done again")
    log.crash_at = -1
    resumed = make(choice_of(stub), tools=[Tool(look)])
    answer = await ask(resumed, "Hi", log=log)
    assert answer.text == "See.\n\nDone again"
    assert stub.requests[2]["messages"] == stub.requests[1]["messages"]
    assert len(stub.requests) == 3
    await resumed.aclose()


async def test_stop_keeps_the_partial_text_and_closes_the_stream(
    stub: ModelStub, agent: ModelAgent
) -> None:
    stub.delay_per_token = 0.02
    stub.reply("word " * 500)
    pieces: list[str] = []
    stop = asyncio.Event()

    class Watch(list[str]):
        def append(self, piece: str) -> None:
            pieces.append(piece)
            if len(pieces) == 3:
                stop.set()

    answer = await ask(agent, "Hi", pieces=Watch(), stop=stop)
    assert answer.stopped
    assert answer.text == "".join(pieces)
    assert answer.text.startswith("word word word")
    assert answer.model == "openai:stub-model"
    await stub.wait_for_aborted()


@pytest.mark.parametrize(
    ("status", "code", "disposition", "user_text"),
    [
        (401, "model_credentials", Disposition.GIVE_UP, "failed.credentials"),
        (403, "model_credentials", Disposition.GIVE_UP, "failed.credentials"),
        (404, "model_not_found", Disposition.GIVE_UP, "failed.model"),
        (400, "model_refused", Disposition.GIVE_UP, "failed.model"),
        (418, "model_refused", Disposition.GIVE_UP, "failed.model"),
        (429, "model_rate_limited", Disposition.RETRY, "failed.rate_limited"),
        (500, "model_unavailable", Disposition.RETRY, "failed.unavailable"),
        (503, "model_unavailable", Disposition.RETRY, "failed.unavailable"),
    ],
)
async def test_refusals(
    stub: ModelStub,
    agent: ModelAgent,
    *,
    status: int,
    code: str,
    disposition: Disposition,
    user_text: str,
) -> None:
    stub.fail(status, retry_after=0, times=5)
    with pytest.raises(AgentError) as caught:
        await ask(agent, "Hi")
    error = caught.value
    assert (error.code, error.disposition, error.user_text) == (code, disposition, user_text)
    assert KEY["OPENAI_API_KEY"] not in str(error)


async def test_a_passing_fault_is_retried_inside_the_request(
    stub: ModelStub, agent: ModelAgent
) -> None:
    stub.fail(429, retry_after=0)
    assert (await ask(agent, "Hi")).text
    assert len(stub.requests) == 2


async def test_a_broken_stream_and_a_captive_portal_are_retried_later(
    stub: ModelStub, agent: ModelAgent
) -> None:
    stub.cut(after=2)
    stub.garbage()
    for code in ("model_unavailable", "model_garbled"):
        with pytest.raises(AgentError) as caught:
            await ask(agent, "Hi there, you")
        assert (caught.value.code, caught.value.disposition) == (code, Disposition.RETRY)


async def test_no_server_is_retried_later(stub: ModelStub, agent: ModelAgent) -> None:
    await stub.stop()
    with pytest.raises(AgentError) as caught:
        await ask(agent, "Hi")
    assert (caught.value.code, caught.value.disposition) == (
        "model_unavailable",
        Disposition.RETRY,
    )


async def test_a_server_that_hangs_ends_the_turn(stub: ModelStub) -> None:
    stub.hang(60)
    agent = make(choice_of(stub), timeout=0.5)
    with pytest.raises(AgentError) as caught:
        await ask(agent, "Hi")
    assert caught.value.code == "turn_timeout"
    assert caught.value.user_text == "failed.timeout"
    await stub.wait_for_aborted()
    await agent.aclose()


async def test_too_long_a_history_is_shortened_once(stub: ModelStub, agent: ModelAgent) -> None:
    stub.context_too_long()
    history = talk(*("x" * 4000 for _ in range(12)))
    assert (await ask(agent, turn("Hi", history=history))).text
    before, after = (len(request["messages"]) for request in stub.requests)
    assert before == 14
    assert 2 < after < 8


async def test_still_too_long_is_told(stub: ModelStub, agent: ModelAgent) -> None:
    stub.context_too_long(times=2)
    history = talk(*("x" * 4000 for _ in range(12)))
    with pytest.raises(AgentError) as caught:
        await ask(agent, turn("Hi", history=history))
    assert caught.value.user_text == "failed.context"
    assert caught.value.disposition is Disposition.GIVE_UP


async def test_nothing_to_shorten_is_not_asked_twice(stub: ModelStub, agent: ModelAgent) -> None:
    stub.context_too_long(times=2)
    with pytest.raises(AgentError):
        await ask(agent, "Hi")
    assert len(stub.requests) == 1


async def test_another_model_stands_in_during_an_outage(stub: ModelStub) -> None:
    stub.models.append("other")
    stub.fail(503, retry_after=0, times=2)
    agent = make(choice_of(stub), choice_of(stub, "other"))
    assert (await ask(agent, "Hi")).model == "openai:other"
    assert [request["model"] for request in stub.requests] == ["stub-model", "stub-model", "other"]
    await agent.aclose()


async def test_no_other_model_is_asked_about_a_wrong_key(stub: ModelStub) -> None:
    stub.models.append("other")
    stub.fail(401)
    agent = make(choice_of(stub), choice_of(stub, "other"))
    with pytest.raises(AgentError) as caught:
        await ask(agent, "Hi")
    assert caught.value.code == "model_credentials"
    assert len(stub.requests) == 1
    await agent.aclose()


async def test_when_all_models_are_away_the_turn_is_tried_again(stub: ModelStub) -> None:
    stub.fail(503, retry_after=0, times=9)
    agent = make(choice_of(stub), choice_of(stub, "other"))
    with pytest.raises(AgentError) as caught:
        await ask(agent, "Hi")
    assert caught.value.disposition is Disposition.RETRY
    await agent.aclose()


async def test_without_a_name_the_first_listed_chat_model_is_used(stub: ModelStub) -> None:
    stub.models[:] = ["nomic-embed-text", "chatty"]
    agent = make(choice_of(stub, ""))
    assert (await ask(agent, "Hi")).model == "openai:chatty"
    await agent.aclose()


async def test_a_server_without_models_is_named(stub: ModelStub) -> None:
    stub.models.clear()
    agent = make(choice_of(stub, ""))
    with pytest.raises(AgentError, match=r"lists no model: start one there, or set model\.name"):
        await ask(agent, "Hi")
    await agent.aclose()


async def test_a_found_server_never_gets_the_key() -> None:
    async with ModelStub() as found:
        found.api_key = "none"
        agent = make(Choice(Kind.LOOPBACK, name="stub-model", base_url=found.base_url))
        assert (await ask(agent, "Hi")).text
        await agent.aclose()


async def test_a_proxy_of_the_environment_is_not_asked_for_loopback(
    stub: ModelStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    agent = make(choice_of(stub, ""))
    assert (await ask(agent, "Hi")).text
    await agent.aclose()
