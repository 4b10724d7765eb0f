"""Many writers at once, and clients that go away: every batch whole, in order, once."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import httpx
import pytest

from gateway.memory.embedded import messages
from gateway.memory.embedded.serve import EmbeddedService
from gateway.memory.embedded.values import SessionRef
from gateway.memory.embedded.wire import MessageCreate
from tests.fakes.store import FaultyStore
from tests.integration.memory.embedded.household import WORKSPACE, plain

if TYPE_CHECKING:
    from tests.integration.memory.embedded.household import Household

S1 = SessionRef(WORKSPACE, "s1")


async def test_twenty_writers_of_one_session(home: Household) -> None:
    async def write(writer: int) -> None:
        for batch in range(5):
            said = [(f"p{writer}", f"{writer} {batch} {number}") for number in range(10)]
            await home.say("s1", *said)

    await asyncio.gather(*(write(writer) for writer in range(20)))
    texts = [each["content"] for each in await home.stored()]
    assert len(texts) == len(set(texts)) == 1000
    batches = [texts[start : start + 10] for start in range(0, 1000, 10)]
    for batch in batches:
        writer, number, _ = batch[0].split()
        assert batch == [f"{writer} {number} {index}" for index in range(10)]
    for writer in range(20):
        mine = [batch[0] for batch in batches if batch[0].startswith(f"{writer} ")]
        assert mine == [f"{writer} {batch} 0" for batch in range(5)]


async def test_everything_new_at_once(home: Household) -> None:
    await asyncio.gather(
        *(home.say(f"s{number % 5}", ("ann", "x"), (f"p{number}", "y")) for number in range(20))
    )
    peers = (await home.post("peers/list", {}, size=100)).json()
    assert peers["total"] == 21
    assert (await home.post("sessions/list")).json()["total"] == 5
    assert sum([len(await home.stored(f"s{number}")) for number in range(5)]) == 40


async def test_the_same_thing_is_created_once(home: Household) -> None:
    answers = await asyncio.gather(*(home.post("sessions", {"id": "s1"}) for _ in range(10)))
    assert sorted(each.status_code for each in answers) == [200] * 9 + [201]
    answers = await asyncio.gather(*(home.post("peers", {"id": "ann"}) for _ in range(10)))
    assert sorted(each.status_code for each in answers) == [200] * 9 + [201]


async def test_a_client_that_was_cancelled_is_served_to_the_end(home: Household) -> None:
    store = FaultyStore(home.store)
    service = EmbeddedService(store, home.clock)
    async with plain(await service.start(), service.key) as gone:
        store.answering.clear()
        body = {"messages": [{"peer_id": "ann", "content": "said and cancelled"}]}
        saying = asyncio.create_task(gone.post("sessions/s1/messages", json=body))
        await store.holding.wait()
        saying.cancel()
        await asyncio.gather(saying, return_exceptions=True)
        assert saying.cancelled()
        store.answering.set()
    await service.stop()
    assert [each["content"] for each in await home.stored()] == ["said and cancelled"]


async def test_a_client_that_hangs_up_after_sending(home: Household) -> None:
    body = b'{"messages": [{"peer_id": "ann", "content": "said and gone"}]}'
    address = httpx.URL(home.url)
    assert address.port is not None
    for _ in range(15):
        _, writer = await asyncio.open_connection(address.host, address.port)
        head = (
            f"POST /v3/workspaces/{WORKSPACE}/sessions/s1/messages HTTP/1.1\r\n"
            f"Host: x\r\nAuthorization: Bearer {home.service.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def arrived() -> bool:
        return len(await home.stored()) == 15

    await home.until(arrived)


async def test_a_message_for_a_session_that_was_deleted(home: Household) -> None:
    await home.say("s1", ("ann", "one"))
    await home.raw.delete("sessions/s1")
    late = {"messages": [{"peer_id": "ann", "content": "late"}]}
    assert (await home.post("sessions/s1/messages", late)).status_code == 404
    for path, body in (
        ("sessions", {"id": "s1"}),
        ("sessions/s1/peers", {"ann": {}}),
        ("sessions/s1/messages/list", {}),
    ):
        assert (await home.post(path, body)).status_code == 404
    for path in ("sessions/s1/context", "sessions/s1/summaries"):
        assert (await home.get(path)).status_code == 404
    assert (await home.raw.delete("sessions/s1")).status_code == 404


async def test_deleting_while_others_write(home: Household) -> None:
    await home.say("s1", ("ann", "first"))
    batch = {"messages": [{"peer_id": "ann", "content": "x"}] * 10}
    writing = [home.post("sessions/s1/messages", batch) for _ in range(10)]
    *written, deleted = await asyncio.gather(*writing, home.raw.delete("sessions/s1"))
    assert deleted.status_code == 202
    assert {each.status_code for each in written} <= {201, 404}
    assert (await home.post("search", {"query": "x"})).json() == []


async def test_ten_thousand_messages(home: Household) -> None:
    now = home.clock.now()
    for start in range(0, 10_000, 100):
        batch = [
            MessageCreate(
                peer_id="ann", content=f"I ate {number} plums.", metadata={"gw_id": f"k{number}"}
            )
            for number in range(start, start + 100)
        ]
        await home.store.write(partial(messages.add, ref=S1, batch=batch, now=now))
    context = (await home.get("sessions/s1/context", tokens=2000, peer_target="ann")).json()
    numbers = [int(each["content"].split()[2]) for each in context["messages"]]
    assert numbers == list(range(10_000 - len(numbers), 10_000))
    assert 200 < len(numbers) < 400
    assert context["peer_representation"].count("plums") == 25
    keys = [f"k{number}" for number in range(9_900, 10_050)]
    found = (
        await home.post(
            "sessions/s1/messages/list",
            {"filters": {"metadata": {"gw_id": {"in": keys}}}},
            size=100,
        )
    ).json()
    assert (found["total"], found["items"][0]["metadata"]) == (100, {"gw_id": "k9900"})
    (hit,) = (await home.post("search", {"query": "ate 7777 plums", "limit": 1})).json()
    assert hit["content"] == "I ate 7777 plums."
    everything = (await home.get("sessions/s1/context")).json()["messages"]
    assert len(everything) == 10_000


@pytest.mark.parametrize(
    "text",
    [
        "日本語",
        "العربية",
        "👩‍👩‍👧‍👦",
        "e\u0301",
        "\u202eabc",
        "\u2028",
        "𝄞" * 100,
        '"\\\n\t',
        "<|endoftext|>",
    ],
)
async def test_text_comes_back_as_it_went(home: Household, text: str) -> None:
    ann = await home.client.aio.peer("ann")
    session = await home.client.aio.session("s1")
    message = ann.message(f"I say {text}", metadata={text: [text]})
    (sent,) = await session.aio.add_messages(message)
    assert (sent.content, sent.metadata) == (f"I say {text}", {text: [text]})
    context = await session.aio.context(tokens=2000)
    assert [each.content for each in context.messages] == [f"I say {text}"]
    found = await session.aio.messages(filters={"metadata": {text: [text]}})
    assert len(found.items) == 1
    await ann.aio.set_card([text])
    assert await ann.aio.get_card() == [text]
