"""The client against the embedded service: what it asks, what it never does."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import httpx
import pytest

from gateway.memory.clients import Endpoint
from gateway.memory.honcho import REPRESENTATION, HonchoMemory
from gateway.model.errors import (
    MemoryAmbiguousError,
    MemoryCredentialsError,
    MemoryGoneError,
    MemoryRejectedError,
    MemoryUnavailableError,
    MemoryUnsupportedError,
)
from gateway.model.ids import LedgerKey, PeerId, SessionId
from gateway.model.memory import (
    BaseContext,
    ContextQuery,
    DialecticQuestion,
    MemoryMessage,
    Observation,
)
from tests.emulators.honcho_proxy import CHAT, CONTEXT, MESSAGES, Fault, HonchoProxy, Kind
from tests.fakes.clock import FakeClock
from tests.integration.memory.scribe import service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

MIRA, TOBIAS, AGENT = PeerId("mira"), PeerId("tobias"), PeerId("hermes")
TALK, OTHER = SessionId("talk"), SessionId("other")
AT = datetime(2026, 11, 28, 12, tzinfo=UTC)


class Desk:
    """The client, the proxy before the service, and a way around both."""

    def __init__(self, proxy: HonchoProxy, url: str, key: str) -> None:
        self.proxy = proxy
        self.endpoint = Endpoint(proxy.address, key, "household", timeout=5.0)
        self.memory = HonchoMemory(lambda: self.endpoint, FakeClock())
        headers = {"Authorization": f"Bearer {key}"}
        base = f"{url}/v3/workspaces/household"
        self.workspace = base
        self.direct = httpx.AsyncClient(base_url=base, headers=headers, trust_env=False)

    async def say(self, *texts: str, to: SessionId = TALK, peer: PeerId = MIRA) -> None:
        """Store messages."""
        keys = [LedgerKey(f"{to}-{each.encode(errors='replace').decode()}") for each in texts]
        found = [MemoryMessage(key, peer, each, AT) for key, each in zip(keys, texts, strict=True)]
        await self.memory.add(to, found)


@asynccontextmanager
async def opened(folder: Path, template: Path) -> AsyncIterator[Desk]:
    async with service(folder, template) as served:
        url = await served.start()
        async with HonchoProxy(url) as proxy:
            desk = Desk(proxy, url, served.key)
            yield desk
            await desk.memory.aclose()
            await desk.direct.aclose()


@pytest.fixture
async def desk(tmp_path: Path, template: Path) -> AsyncIterator[Desk]:
    async with opened(tmp_path, template) as desk:
        yield desk


# --- nothing of what is there is wiped ------------------------------------------------------


async def test_nothing_wipes_metadata(desk: Desk) -> None:
    await desk.memory.open_session(TALK, {MIRA: Observation(True, False)})
    await desk.direct.put("/sessions/talk", json={"metadata": {"note": "keep"}})
    await desk.direct.put("/peers/mira", json={"metadata": {"note": "keep"}})
    await desk.direct.put(desk.workspace, json={"metadata": {"note": "keep"}})
    await desk.memory.open_session(TALK, {MIRA: Observation(), TOBIAS: Observation()})
    await desk.say("hello")
    await desk.memory.register_agent("hermes", AGENT)
    await desk.memory.set_card(AGENT, MIRA, ["Lives in Graz"])
    for path, body in {"/sessions": "talk", "/peers": "mira"}.items():
        found = (await desk.direct.post(path, json={"id": body})).json()
        assert found["metadata"] == {"note": "keep"}, path
    workspace = (await desk.direct.put(desk.workspace, json={})).json()
    assert workspace["metadata"] == {"note": "keep", "agentPeerMap": {"hermes": "hermes"}}


async def test_agents_are_added_one_by_one(desk: Desk) -> None:
    assert await desk.memory.agents() == {}
    await desk.memory.register_agent("hermes", AGENT)
    await desk.memory.register_agent("scout", PeerId("scout-1"))
    await desk.memory.register_agent("hermes", AGENT)
    assert await desk.memory.agents() == {"hermes": AGENT, "scout": "scout-1"}


async def test_an_agent_map_of_another_shape_is_read_as_none(desk: Desk) -> None:
    await desk.memory.pending()
    await desk.direct.put(desk.workspace, json={"metadata": {"agentPeerMap": ["hermes"]}})
    assert await desk.memory.agents() == {}


# --- sessions ----------------------------------------------------------------------------------


async def test_flags_of_the_service_win_and_are_read_back(desk: Desk) -> None:
    await desk.memory.open_session(TALK, {MIRA: Observation(True, False)})
    await desk.direct.put("/sessions/talk/peers/mira/config", json={"observe_me": False})
    found = await desk.memory.open_session(
        TALK, {MIRA: Observation(True, True), AGENT: Observation(True, True)}
    )
    assert found == {MIRA: Observation(False, False), AGENT: Observation(True, True)}


async def test_the_agents_own_peer_is_never_hidden(desk: Desk) -> None:
    await desk.memory.open_session(TALK, {AGENT: Observation(False, True)})
    peer = (await desk.direct.post("/peers", json={"id": AGENT})).json()
    assert peer["configuration"].get("observe_me") is not False


async def test_stored_finds_its_keys_among_many(desk: Desk) -> None:
    texts = [str(number) for number in range(150)]
    await desk.say(*texts[:100])
    await desk.say(*texts[100:])
    wanted = [LedgerKey(f"talk-{number}") for number in range(0, 300, 2)]
    assert await desk.memory.stored(TALK, wanted) == {f"talk-{n}" for n in range(0, 150, 2)}
    assert await desk.memory.stored(TALK, []) == frozenset()


async def test_a_deleted_session_is_gone(desk: Desk) -> None:
    await desk.say("hello")
    await desk.direct.delete("/sessions/talk")
    with pytest.raises(MemoryGoneError):
        await desk.say("again")


async def test_what_is_no_text_is_repaired_on_the_way(desk: Desk) -> None:
    """H-51: it was cleaned at intake; whatever slips through must not stop the writer."""
    await desk.say("half \ud83d", "nul\0")
    listed = (await desk.direct.post("/sessions/talk/messages/list", json={})).json()
    assert [each["content"] for each in listed["items"]] == ["half \ufffd", "nul"]


# --- reading -----------------------------------------------------------------------------------


async def test_a_context_is_always_bounded(desk: Desk) -> None:
    await desk.say("I live in Graz")
    await desk.memory.context(ContextQuery(TALK, MIRA, AGENT, search="<|endoftext|> where"))
    query = httpx.QueryParams(desk.proxy.matching(CONTEXT)[-1].query)
    assert (query["tokens"], query["max_conclusions"]) == ("2000", "25")
    assert (query["peer_target"], query["peer_perspective"]) == (MIRA, AGENT)
    assert query["search_query"] == "<|\u200bendoftext|> where"


async def test_a_representation_is_cut(desk: Desk) -> None:
    body = (
        '{"id": "talk", "messages": [], "summary": null, "peer_card": ["a", "b"],'
        f' "peer_representation": "{"r" * (REPRESENTATION + 5)}"}}'
    )
    desk.proxy.plan(Fault(Kind.INSTEAD, CONTEXT, body=body))
    found = await desk.memory.context(ContextQuery(TALK, MIRA))
    assert found == BaseContext("", "r" * REPRESENTATION, ("a", "b"))


async def test_nothing_is_known_where_nothing_is(desk: Desk) -> None:
    nobody, nowhere = PeerId("nobody"), SessionId("nowhere")
    assert await desk.memory.context(ContextQuery(nowhere, nobody, AGENT)) == BaseContext()
    assert await desk.memory.card(nobody, nobody) == ()
    assert await desk.memory.search("", peer=None, session=None, limit=5) == []
    assert await desk.memory.search("word", peer=None, session=nowhere, limit=5) == []
    assert await desk.memory.conclusions(nobody, MIRA) == []
    question = DialecticQuestion("who?", nobody, None, nowhere, "low")
    assert await desk.memory.ask(question, timeout=5) == ""


async def test_a_limit_to_a_session_is_asked_for_by_name(desk: Desk) -> None:
    await desk.memory.open_session(TALK, {MIRA: Observation(True, True)})
    await desk.memory.context(ContextQuery(TALK, MIRA, only_this_session=True))
    await desk.memory.context(ContextQuery(TALK, MIRA, sessions=(TALK, OTHER)))
    question = DialecticQuestion("where?", MIRA, None, TALK, "low", only_this_session=True)
    await desk.memory.ask(question, timeout=5)
    only, some = (httpx.QueryParams(each.query) for each in desk.proxy.matching(CONTEXT))
    assert only["limit_to_session"] == "true"
    assert some.get_list("sessions") == [TALK, OTHER]
    (asked,) = desk.proxy.matching(CHAT)
    assert asked.json["filters"] == {"session_id": [TALK]}
    assert len(desk.proxy.matching("/openapi.json")) == 1, "asked once"


async def test_a_server_that_would_ignore_the_limit_is_not_asked(desk: Desk) -> None:
    desk.proxy.refuse("/openapi.json", 404)
    query = ContextQuery(TALK, MIRA, only_this_session=True)
    for _ in range(2):
        with pytest.raises(MemoryUnsupportedError):
            await desk.memory.context(query)
    question = DialecticQuestion("where?", MIRA, None, TALK, "low", only_this_session=True)
    with pytest.raises(MemoryUnsupportedError):
        await desk.memory.ask(question, timeout=5)
    assert desk.proxy.matching(CONTEXT) == desk.proxy.matching(CHAT) == []


async def test_a_server_that_cannot_be_asked_decides_nothing(desk: Desk) -> None:
    desk.proxy.reset_after("/openapi.json")
    query = ContextQuery(TALK, MIRA, only_this_session=True)
    with pytest.raises(MemoryAmbiguousError):
        await desk.memory.context(query)
    await desk.memory.context(query)


async def test_cards_belong_to_a_pair(desk: Desk) -> None:
    await desk.memory.set_card(AGENT, MIRA, ["Lives in Graz"])
    assert await desk.memory.card(AGENT, MIRA) == ("Lives in Graz",)
    assert await desk.memory.card(MIRA, MIRA) == ()


async def test_search_is_within_what_was_asked(desk: Desk) -> None:
    await desk.say("the cat is grey")
    await desk.say("my cat is black", to=OTHER, peer=TOBIAS)
    found = await desk.memory.search("cat", peer=None, session=None, limit=5)
    assert {each.text for each in found} == {"the cat is grey", "my cat is black"}
    (mine,) = await desk.memory.search("cat", peer=TOBIAS, session=None, limit=5)
    assert (mine.peer, mine.session, mine.text) == (TOBIAS, OTHER, "my cat is black")
    assert mine.sent_at == AT
    (here,) = await desk.memory.search("cat", peer=None, session=TALK, limit=5)
    assert here.session == TALK
    assert await desk.memory.search("cat", peer=TOBIAS, session=TALK, limit=5) == []


async def test_a_conclusion_is_deleted_for_its_own_pair_only(desk: Desk) -> None:
    await desk.memory.open_session(TALK, {MIRA: Observation(), AGENT: Observation()})
    text = "says <|endoftext|> a lot"
    id_ = await desk.memory.conclude(AGENT, MIRA, text, TALK)
    assert [each for each, _ in await desk.memory.conclusions(AGENT, MIRA)] == [id_]
    with pytest.raises(MemoryRejectedError):
        await desk.memory.forget_conclusion(MIRA, MIRA, id_)
    assert len(await desk.memory.conclusions(AGENT, MIRA)) == 1
    await desk.memory.forget_conclusion(AGENT, MIRA, id_)
    assert await desk.memory.conclusions(AGENT, MIRA) == []


# --- trouble -----------------------------------------------------------------------------------


async def test_nothing_is_tried_twice(desk: Desk) -> None:
    desk.proxy.refuse(MESSAGES, 503)
    with pytest.raises(MemoryAmbiguousError):
        await desk.say("hello")
    assert len(desk.proxy.matching(MESSAGES)) == 1


async def test_a_wrong_key_says_what_to_check(desk: Desk) -> None:
    desk.proxy.refuse("", 401, times=-1)
    with pytest.raises(MemoryCredentialsError, match="apiKey"):
        await desk.memory.pending()


async def test_a_service_that_is_not_there(desk: Desk) -> None:
    await desk.proxy.stop()
    with pytest.raises(MemoryUnavailableError):
        await desk.say("hello")
    await desk.proxy.start()
    await desk.say("hello")


async def test_an_answer_takes_no_longer_than_it_may(desk: Desk) -> None:
    desk.proxy.hang_after(CHAT)
    question = DialecticQuestion("where?", MIRA, None, None, "low")
    with pytest.raises(MemoryAmbiguousError) as caught:
        await desk.memory.ask(question, timeout=0.1)
    assert caught.value.code == "memory_timeout"


async def test_a_proxy_of_the_environment_is_not_used_for_this_machine(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert await desk.memory.pending() == 0
