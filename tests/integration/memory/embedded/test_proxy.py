"""What the official client makes of each fault of the proxy, and what the service then holds."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import honcho
import httpx
import pytest
from honcho.http.exceptions import ConnectionError as HonchoConnectionError
from honcho.http.exceptions import TimeoutError as HonchoTimeoutError

from tests.emulators.honcho_proxy import ALWAYS, CHAT, CONTEXT, MESSAGES, HonchoProxy
from tests.integration.memory.embedded.household import client, close

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.integration.memory.embedded.household import Household


@pytest.fixture
async def proxy(home: Household) -> AsyncIterator[HonchoProxy]:
    async with HonchoProxy(home.url) as made:
        yield made


@pytest.fixture
async def through(home: Household, proxy: HonchoProxy) -> AsyncIterator[honcho.Honcho]:
    """The official client, behind the proxy, with a short temper."""
    made = client(proxy.address, home.service.key, timeout=5)
    yield made
    await close(made)


async def say(made: honcho.Honcho, text: str = "hello") -> Any:
    ann = await made.aio.peer("ann")
    session = await made.aio.session("s1")
    return await session.aio.add_messages(ann.message(text))


async def texts(home: Household) -> list[str]:
    return [each["content"] for each in await home.stored()]


async def test_what_is_not_planned_passes_unchanged(
    home: Household, proxy: HonchoProxy, through: honcho.Honcho
) -> None:
    (sent,) = await say(through, "I keep ünïcode 🙂.")
    assert await texts(home) == [sent.content]
    ann = await through.aio.peer("ann")
    stream = await ann.aio.chat_stream("What about ünïcode?")
    assert "🙂" in "".join([piece async for piece in stream])
    (seen,) = proxy.matching(MESSAGES)
    assert (seen.method, seen.status) == ("POST", 201)
    assert seen.json["messages"][0]["content"] == sent.content
    assert seen.headers["Authorization"] == f"Bearer {home.service.key}"
    context = await (await through.aio.session("s1")).aio.context(tokens=99)
    assert [each.id for each in context.messages] == [sent.id]
    assert "tokens=99" in proxy.matching(CONTEXT)[0].query


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        (lambda proxy: proxy.fail_after(), honcho.ServerError),
        (lambda proxy: proxy.fail_after(status=500), honcho.ServerError),
        (lambda proxy: proxy.reset_after(), HonchoConnectionError),
        (lambda proxy: proxy.hang_after(), HonchoTimeoutError),
    ],
)
async def test_it_was_done_and_the_client_cannot_know(
    home: Household,
    proxy: HonchoProxy,
    plan: Callable[[HonchoProxy], None],
    error: type[Exception],
) -> None:
    plan(proxy)
    made = client(proxy.address, home.service.key, timeout=1)
    with pytest.raises(error):
        await say(made)
    assert await texts(home) == ["hello"]
    assert [each.status for each in proxy.matching(MESSAGES)] == [201]
    await say(made, "again")
    assert await texts(home) == ["hello", "again"]
    await close(made)


async def test_the_clients_own_retries_store_it_twice(home: Household, proxy: HonchoProxy) -> None:
    made = client(proxy.address, home.service.key, max_retries=1)
    proxy.fail_after()
    await say(made)
    assert await texts(home) == ["hello", "hello"]
    await close(made)


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        (lambda proxy: proxy.refuse(MESSAGES, 401), honcho.AuthenticationError),
        (lambda proxy: proxy.refuse(MESSAGES, 503), honcho.ServerError),
        (lambda proxy: proxy.refuse(MESSAGES, 404), honcho.NotFoundError),
        (lambda proxy: proxy.limit(MESSAGES), honcho.RateLimitError),
        (lambda proxy: proxy.html(MESSAGES), HonchoConnectionError),
    ],
)
async def test_the_service_never_saw_it(
    home: Household,
    proxy: HonchoProxy,
    through: honcho.Honcho,
    plan: Callable[[HonchoProxy], None],
    error: type[Exception],
) -> None:
    plan(proxy)
    with pytest.raises(error):
        await say(through)
    assert await texts(home) == []
    assert [each.status for each in proxy.matching(MESSAGES)] == [None]


async def test_how_long_to_wait(proxy: HonchoProxy, through: honcho.Honcho) -> None:
    proxy.limit(MESSAGES, retry_after=7)
    with pytest.raises(honcho.RateLimitError) as caught:
        await say(through)
    assert caught.value.retry_after == 7.0


async def test_an_empty_stream_looks_like_no_answer(
    home: Household, proxy: HonchoProxy, through: honcho.Honcho
) -> None:
    await say(through, "I keep a canary.")
    ann = await through.aio.peer("ann")
    proxy.empty_stream()
    stream = await ann.aio.chat_stream("canary?")
    assert [piece async for piece in stream] == []
    assert [each.status for each in proxy.matching(CHAT)] == [None]
    assert await ann.aio.chat("canary?")


async def test_faults_are_for_a_path_a_method_and_a_number_of_times(
    home: Household, proxy: HonchoProxy, through: honcho.Honcho
) -> None:
    proxy.refuse(MESSAGES, 503, method="GET", times=ALWAYS)
    await say(through)
    proxy.refuse(MESSAGES, 503, method="POST", times=2)
    for _ in range(2):
        with pytest.raises(honcho.ServerError):
            await say(through)
    await say(through, "third")
    assert await texts(home) == ["hello", "third"]
    proxy.refuse("/peers$", 500, times=ALWAYS)
    for _ in range(3):
        with pytest.raises(honcho.ServerError):
            await through.aio.peer("ann")
    proxy.clear()
    assert (await through.aio.peer("ann")).id == "ann"


async def test_slow(home: Household, proxy: HonchoProxy) -> None:
    made = client(proxy.address, home.service.key, timeout=0.2)
    await say(made)
    proxy.slow(MESSAGES, 0.5)
    with pytest.raises(HonchoTimeoutError):
        await say(made, "late")
    await proxy.wait_for(MESSAGES, 2)
    assert await texts(home) == ["hello", "late"]
    await close(made)


async def test_down_and_up(home: Household, proxy: HonchoProxy, through: honcho.Honcho) -> None:
    await say(through)
    proxy.hang_after()
    waiting = asyncio.create_task(say(through, "cut off"))
    await proxy.wait_for(MESSAGES, 2)
    await proxy.stop()
    for attempt in (waiting, say(through, "refused")):
        with pytest.raises(HonchoConnectionError):
            await attempt
    await proxy.start()
    await say(through, "back")
    assert await texts(home) == ["hello", "cut off", "back"]


async def test_a_service_that_is_down(home: Household, proxy: HonchoProxy) -> None:
    await home.service.stop()
    async with httpx.AsyncClient(base_url=proxy.address, trust_env=False) as plain:
        with pytest.raises(httpx.RemoteProtocolError):
            await plain.get("/health")
    assert [each.status for each in proxy.seen] == [None]


async def test_waiting_has_an_end(proxy: HonchoProxy) -> None:
    with pytest.raises(TimeoutError, match=r"0 requests after 0\.01 s"):
        await proxy.wait_for(MESSAGES, timeout=0.01)


async def test_paths_pass_as_they_are(home: Household, proxy: HonchoProxy) -> None:
    headers = {"Authorization": f"Bearer {home.service.key}"}
    async with httpx.AsyncClient(
        base_url=proxy.address, headers=headers, trust_env=False
    ) as plain:
        answer = await plain.get("/v3/workspaces/w/peers/%E9%2F/card?target=a%26b")
    assert json.loads(answer.text)["detail"]
    assert proxy.seen[0].path.endswith("/peers/%E9%2F/card")
    assert proxy.seen[0].query == "target=a%26b"
