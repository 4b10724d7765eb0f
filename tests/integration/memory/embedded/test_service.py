"""The service as a part of the process: its port, its key, its end, its silence."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from typing import TYPE_CHECKING

import httpx
import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from gateway.memory.embedded.serve import EmbeddedService
from gateway.model.errors import StoreError
from gateway.store.tables import metadata
from tests.fakes.clock import FakeClock
from tests.integration.memory.embedded.household import WORKSPACE, client, close, plain

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.memory.embedded.deriver import Known, Question, Talk, Wish
    from gateway.store.engine import Store
    from tests.integration.memory.embedded.household import Household

CANARY = "Zebedee-the-canary"


class Slow:
    """A deriver that takes its time."""

    def __init__(self) -> None:
        self.asked, self.free = asyncio.Event(), asyncio.Event()

    async def representation(self, known: Known, wish: Wish) -> str:
        self.asked.set()
        await self.free.wait()
        return "at last"

    async def answer(self, known: Known, question: Question) -> AsyncIterator[str]:
        yield ""

    async def summary(self, talk: Talk) -> str | None:
        return None


async def test_each_service_has_a_port_and_a_key_of_its_own(home: Household) -> None:
    other = EmbeddedService(home.store, FakeClock())
    url = await other.start()
    assert url != home.url
    assert url.startswith("http://127.0.0.1:")
    assert len(other.key) >= 40
    async with plain(url, home.service.key) as stranger:
        assert (await stranger.post("peers/list")).status_code == 401
    await home.say("s1", ("ann", "seen by both"))
    async with plain(url, other.key) as friend:
        listed = (await friend.post("sessions/s1/messages/list", json={})).json()
    assert [each["content"] for each in listed["items"]] == ["seen by both"]
    await other.stop()


async def test_nobody_answers_after_the_end(store: Store) -> None:
    service = EmbeddedService(store, FakeClock())
    url = await service.start()
    await service.stop()
    await service.stop()
    async with httpx.AsyncClient(trust_env=False) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(f"{url}/health")
    again = await service.start()
    async with plain(again, service.key) as friend:
        assert (await friend.post("peers/list")).status_code == 200
    await service.stop()


@pytest.mark.parametrize("deriver", [Slow], indirect=True)
async def test_a_running_request_is_finished_at_the_end(home: Household, deriver: Slow) -> None:
    asking = asyncio.create_task(home.post("peers/ann/representation", {}))
    await deriver.asked.wait()
    stopping = asyncio.create_task(home.service.stop())
    host, port = "127.0.0.1", httpx.URL(home.url).port

    async def refused() -> bool:
        try:
            _, writer = await asyncio.open_connection(host, port)
        except ConnectionError:
            return True
        writer.close()
        return False

    await home.until(refused)
    assert not stopping.done()
    deriver.free.set()
    assert (await asking).json() == {"representation": "at last"}
    await stopping


@pytest.mark.parametrize("deriver", [Slow], indirect=True)
async def test_a_request_that_takes_long_holds_up_no_stop_and_leaves_no_trace(
    home: Household, deriver: Slow, caplog: pytest.LogCaptureFixture
) -> None:
    asking = asyncio.create_task(home.post("peers/ann/representation", {}))
    await deriver.asked.wait()
    await home.service.stop()  # the deriver is never set free
    assert (await asking).status_code == 503
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []


async def test_no_answer_waits_for_an_acknowledgement(home: Household) -> None:
    async def once() -> float:
        start = time.perf_counter()
        await home.get("../../../health")
        return time.perf_counter() - start

    # Nagle's algorithm would hold each of them back for 40 ms, whatever the machine does
    assert min([await once() for _ in range(50)]) < 0.035


async def test_the_process_keeps_its_signals(store: Store) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    service = EmbeddedService(store, FakeClock())
    await service.start()
    during = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    await service.stop()
    assert during == before


async def test_nothing_that_is_said_is_logged(
    home: Household, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    logging.getLogger("httpcore").setLevel(logging.WARNING)
    with capture_logs() as logs:
        await home.say("s1", ("ann", f"I keep {CANARY}."))
        bad = {"messages": [{"peer_id": "b.d", "content": CANARY}]}
        assert (await home.post("sessions/s1/messages", bad)).status_code == 422
        await home.post("peers/ann/chat", {"query": CANARY})
        await home.post("search", {"query": CANARY, "filters": {"content": CANARY}})
        await home.get("sessions/s1/context", peer_target="ann", search_query=CANARY)
    text = "\n".join(record.getMessage() for record in caplog.records)
    assert CANARY not in text
    assert CANARY not in str(logs)
    assert "HTTP/1.1" not in text
    assert home.service.key not in text


async def test_a_restart_keeps_everything(home: Household) -> None:
    said = await home.say("s1", ("ann", "I keep a canary."), ("bot", "Noted."))
    await home.raw.put("peers/ann/card", json={"peer_card": ["one"]})
    made = {"content": "likes birds", "observer_id": "ann", "observed_id": "ann"}
    (concluded,) = (await home.post("conclusions", {"conclusions": [made]})).json()
    await home.post("sessions", {"id": "gone"})
    await home.raw.delete("sessions/gone")
    context = (await home.get("sessions/s1/context", peer_target="ann")).json()
    await home.service.stop()
    again = EmbeddedService(home.store, home.clock)
    async with plain(await again.start(), again.key) as friend:
        listed = (await friend.post("sessions/s1/messages/list", json={})).json()
        assert listed["items"] == said
        assert (await friend.get("peers/ann/card")).json() == {"peer_card": ["one"]}
        conclusions = (await friend.post("conclusions/list")).json()
        assert [each["id"] for each in conclusions["items"]] == [concluded["id"]]
        assert (await friend.post("sessions", json={"id": "gone"})).status_code == 404
        answer = await friend.get("sessions/s1/context", params={"peer_target": "ann"})
        assert answer.json() == context
    await again.stop()


class Broken:
    """A deriver that cannot think."""

    async def representation(self, known: Known, wish: Wish) -> str:
        raise StoreError(f"cannot think of {CANARY}")

    async def answer(self, known: Known, question: Question) -> AsyncIterator[str]:
        if question.text:
            raise StoreError(f"cannot think of {CANARY}")
        yield ""

    async def summary(self, talk: Talk) -> str | None:
        raise StoreError(f"cannot think of {CANARY}")


@pytest.mark.parametrize("deriver", [Broken], indirect=True)
async def test_who_cannot_think_fails_the_question_only(home: Household) -> None:
    with capture_logs() as logs:
        await home.say("s1", *(("ann", str(number)) for number in range(20)))
        answers = [
            await home.post("peers/ann/representation", {}),
            await home.post("peers/ann/chat", {"query": "why?"}),
            await home.get("sessions/s1/context", peer_target="ann"),
        ]
    assert [each.status_code for each in answers] == [503, 503, 503]
    assert CANARY not in "".join(each.text for each in answers) + str(logs)
    assert [each["action"] for each in logs] == ["memory_summary_failed"]
    assert (await home.get("sessions/s1/context")).status_code == 200


async def test_a_closed_store_is_a_server_error(store: Store) -> None:
    service = EmbeddedService(store, FakeClock())
    async with plain(await service.start(), service.key) as friend:
        await store.close()
        answer = await friend.post("peers", json={"id": "ann"})
        assert answer.status_code == 503
    await service.stop()


async def test_nothing_is_left_of_an_erased_workspace(home: Household) -> None:
    await home.say("s1", ("ann", f"I keep {CANARY}."), ("bot", CANARY), metadata={"m": CANARY})
    await home.raw.put("peers/ann/card", json={"peer_card": [CANARY]})
    made = {"content": CANARY, "observer_id": "ann", "observed_id": "ann", "session_id": "s1"}
    await home.post("conclusions", {"conclusions": [made, {**made, "session_id": None}]})
    await home.raw.put("sessions/s1", json={"metadata": {"m": CANARY}})
    assert (await home.raw.delete("sessions/s1")).status_code == 202
    left = await _rows(home.store)
    assert CANARY not in str({name: left[name] for name in left if name != "memory_pair"}).replace(
        str(left["memory_conclusion"]), ""
    )
    assert [row["session"] for row in left["memory_conclusion"]] == [None]
    assert (left["memory_message"], left["memory_observation"]) == ([], [])
    assert (await home.raw.delete(f"../{WORKSPACE}")).status_code == 202
    assert not any((await _rows(home.store)).values())


async def _rows(store: Store) -> dict[str, list[sa.RowMapping]]:
    tables = [table for table in metadata.sorted_tables if table.name.startswith("memory_")]
    return await store.read(
        lambda conn: {
            table.name: list(conn.execute(sa.select(table)).mappings()) for table in tables
        }
    )


async def test_two_clients_of_two_loops(home: Household) -> None:
    made = client(home.url, home.service.key)
    ann = await asyncio.to_thread(made.peer, "ann")
    await asyncio.to_thread(ann.set_card, ["from a thread"])
    assert await (await home.client.aio.peer("ann")).aio.get_card() == ["from a thread"]
    await close(made)
