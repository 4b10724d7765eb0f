"""The model stub as the unmodified OpenAI client sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openai
import pytest

from tests.emulators.openai import Completion, ModelStub, ToolCall

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from openai.types.chat import ChatCompletionMessageParam


@pytest.fixture
async def model() -> AsyncIterator[ModelStub]:
    async with ModelStub() as stub:
        yield stub


@pytest.fixture
async def client(model: ModelStub) -> AsyncIterator[openai.AsyncOpenAI]:
    arguments: dict[str, Any] = {"base_url": model.base_url, "api_key": "sk-test"}
    async with openai.AsyncOpenAI(**arguments, max_retries=0) as made:
        yield made


def user(text: str) -> ChatCompletionMessageParam:
    return {"role": "user", "content": text}


async def ask(client: openai.AsyncOpenAI, *texts: str) -> str | None:
    answer = await client.chat.completions.create(
        model="stub-model", messages=[user(text) for text in texts]
    )
    return answer.choices[0].message.content


async def stream(client: openai.AsyncOpenAI, text: str) -> list[str]:
    chunks = await client.chat.completions.create(
        model="stub-model", messages=[user(text)], stream=True
    )
    return [chunk.choices[0].delta.content or "" async for chunk in chunks]


@pytest.mark.parametrize(
    ("texts", "answer"),
    [
        (["hello there"], "You said: hello there"),
        (["My name is Mira.", "What is my name?"], "Your name is Mira."),
        (["my name is Bob", "my name is Ann", "what's my name"], "Your name is Ann."),
        (["What is my name?"], "I do not know your name."),
    ],
)
async def test_it_answers_from_the_request_alone(
    client: openai.AsyncOpenAI, texts: list[str], answer: str
) -> None:
    assert await ask(client, *texts) == answer
    assert await ask(client, *texts) == answer


async def test_parts_are_read_like_text(client: openai.AsyncOpenAI) -> None:
    parts: Any = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    answer = await client.chat.completions.create(
        model="stub-model", messages=[{"role": "user", "content": parts}]
    )
    assert answer.choices[0].message.content == "You said: one\ntwo"


@pytest.mark.parametrize("text", ["", "one", "  two words\n", "three\n\n words here"])
async def test_a_stream_is_the_same_text_in_pieces(
    model: ModelStub, client: openai.AsyncOpenAI, text: str
) -> None:
    model.reply(text)
    assert "".join(await stream(client, "x")) == text


async def test_usage_is_counted_and_streamed_on_request(
    model: ModelStub, client: openai.AsyncOpenAI
) -> None:
    model.reply("three words here")
    whole = await client.chat.completions.create(model="stub-model", messages=[user("x")])
    chunks = [
        chunk
        async for chunk in await client.chat.completions.create(
            model="stub-model",
            messages=[user("x")],
            stream=True,
            stream_options={"include_usage": True},
        )
    ]
    assert whole.usage is not None
    assert whole.usage.completion_tokens == 3
    assert chunks[-1].choices == []
    assert chunks[-1].usage == whole.usage
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]][-2:] == [None, "stop"]


async def test_tool_calls_whole_and_streamed(model: ModelStub, client: openai.AsyncOpenAI) -> None:
    calls = (ToolCall("remember", '{"fact": "tea"}'), ToolCall("recall"))
    model.script(Completion("wait", calls), Completion(tools=calls))
    answer = await client.chat.completions.create(model="stub-model", messages=[user("x")])
    async with client.chat.completions.stream(model="stub-model", messages=[user("x")]) as chunks:
        streamed = await chunks.get_final_completion()

    for choice in (answer.choices[0], streamed.choices[0]):
        assert choice.finish_reason == "tool_calls"
        assert [
            (call.function.name, call.function.arguments)
            for call in choice.message.tool_calls or ()
            if call.type == "function"
        ] == [("remember", '{"fact": "tea"}'), ("recall", "{}")]


async def test_scripted_answers_come_before_the_standing_one(
    model: ModelStub, client: openai.AsyncOpenAI
) -> None:
    model.script("first", "second")
    model.reply(lambda body: f"{len(body['messages'])} messages")
    assert [await ask(client, "a", "b") for _ in range(3)] == ["first", "second", "2 messages"]


async def test_requests_are_kept_byte_for_byte(
    model: ModelStub, client: openai.AsyncOpenAI
) -> None:
    await ask(client, "a")
    await ask(client, "a", "b")
    assert [len(body["messages"]) for body in model.requests] == [1, 2]
    assert b'{"role":"user","content":"a"}' in model.raw[1].replace(b": ", b":")


@pytest.mark.parametrize(
    ("plan", "expected", "code"),
    [
        (lambda m: m.fail(400), openai.BadRequestError, "invalid_request"),
        (lambda m: m.context_too_long(), openai.BadRequestError, "context_length_exceeded"),
        (lambda m: m.fail(401), openai.AuthenticationError, "invalid_api_key"),
        (lambda m: m.fail(429, retry_after=7), openai.RateLimitError, "rate_limit_exceeded"),
        (lambda m: m.fail(500), openai.InternalServerError, "server_error"),
        (lambda m: m.fail(503, "<html>busy</html>"), openai.InternalServerError, None),
    ],
)
async def test_refusals(
    model: ModelStub,
    client: openai.AsyncOpenAI,
    plan: Callable[[ModelStub], None],
    expected: type[openai.APIStatusError],
    code: str | None,
) -> None:
    plan(model)
    with pytest.raises(expected) as caught:
        await ask(client, "x")

    assert type(caught.value) is expected
    assert caught.value.code == code
    assert caught.value.response.headers.get("retry-after") == (
        "7" if "rate" in str(code) else None
    )
    assert await ask(client, "x") == "You said: x"


async def test_the_client_retries_after_the_time_it_was_told(model: ModelStub) -> None:
    model.fail(429, retry_after=0.01, times=2)
    arguments: dict[str, Any] = {"base_url": model.base_url, "api_key": "sk-test"}
    async with openai.AsyncOpenAI(**arguments, max_retries=2) as client:
        assert await ask(client, "x") == "You said: x"
    assert len(model.requests) == 3


async def test_unknown_models_and_wrong_keys(model: ModelStub, client: openai.AsyncOpenAI) -> None:
    assert [found.id async for found in client.models.list()] == ["stub-model"]
    with pytest.raises(openai.NotFoundError):
        await client.chat.completions.create(model="other", messages=[user("x")])
    model.api_key = "sk-other"
    with pytest.raises(openai.AuthenticationError):
        await ask(client, "x")
    with pytest.raises(openai.AuthenticationError):
        await client.models.list()
    assert len(model.requests) == 1


async def test_garbage_is_no_completion(model: ModelStub, client: openai.AsyncOpenAI) -> None:
    model.garbage()
    answer: Any = await client.chat.completions.create(model="stub-model", messages=[user("x")])
    assert not getattr(answer, "choices", None)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_connection_cut_before_the_answer(
    model: ModelStub, client: openai.AsyncOpenAI, streamed: bool
) -> None:
    model.cut()
    with pytest.raises(openai.APIConnectionError):
        await (stream(client, "x") if streamed else ask(client, "x"))


async def test_a_stream_cut_in_the_middle(model: ModelStub, client: openai.AsyncOpenAI) -> None:
    model.reply("one two three")
    model.cut(after=3)
    chunks = await client.chat.completions.create(
        model="stub-model", messages=[user("x")], stream=True
    )
    came = [(await anext(chunks)).choices[0].delta.content for _ in range(3)]
    with pytest.raises(openai.APIConnectionError):
        await anext(chunks)
    assert came == ["", "one", " two"]
    assert model.aborted == 0


async def test_a_hanging_model_meets_the_clients_timeout(
    model: ModelStub, client: openai.AsyncOpenAI
) -> None:
    model.hang(30)
    with pytest.raises(openai.APITimeoutError):
        await ask(client.with_options(timeout=0.05), "x")
    await model.wait_for_aborted()
    assert model.aborted == 1
    assert await ask(client, "x") == "You said: x"


async def test_leaving_a_stream_counts_as_aborted(
    model: ModelStub, client: openai.AsyncOpenAI
) -> None:
    model.reply("word " * 50)
    model.delay_per_token = 0.01
    chunks = await client.chat.completions.create(
        model="stub-model", messages=[user("x")], stream=True
    )
    await anext(chunks)
    await chunks.close()
    await model.wait_for_aborted()
    assert model.aborted == 1
