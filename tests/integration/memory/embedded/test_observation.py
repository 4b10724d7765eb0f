"""Who knows what of whom: exactly those who were there to hear it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.integration.memory.embedded.household import Household

SENTENCE = "I keep a canary."


async def join(home: Household, peers: dict[str, Any], session: str = "s1") -> None:
    answer = await home.post("sessions", {"id": session, "peers": peers})
    assert answer.status_code in (200, 201)


@pytest.mark.parametrize(
    ("peer_level", "session_level", "listener", "heard_by"),
    [
        (None, None, True, {"ann", "bot"}),
        (None, None, None, {"ann"}),
        (None, None, False, {"ann"}),
        (True, None, True, {"ann", "bot"}),
        (False, None, True, set()),
        (False, True, True, {"ann", "bot"}),
        (True, False, True, set()),
        (None, False, True, set()),
        (None, True, True, {"ann", "bot"}),
    ],
)
async def test_flags(
    home: Household,
    peer_level: bool | None,
    session_level: bool | None,
    listener: bool | None,
    heard_by: set[str],
) -> None:
    if peer_level is not None:
        configuration = {"observe_me": peer_level}
        await home.post("peers", {"id": "ann", "configuration": configuration})
    peers = {"ann": {"observe_me": session_level}, "bot": {"observe_others": listener}}
    await join(home, peers)
    await home.say("s1", ("ann", SENTENCE))
    knowing = {each for each in ("ann", "bot") if SENTENCE in await home.knows(each, "ann")}
    assert knowing == heard_by


async def test_who_comes_later_has_not_heard(home: Household) -> None:
    await join(home, {"ann": {}})
    await home.say("s1", ("ann", SENTENCE))
    await join(home, {"bot": {"observe_others": True}})
    await home.say("s1", ("ann", "My parrot is red."))
    assert "canary" not in await home.knows("bot", "ann")
    assert "parrot" in await home.knows("bot", "ann")
    assert "canary" in await home.knows("ann", "ann")


async def test_who_goes_keeps_what_was_heard(home: Household) -> None:
    await join(home, {"ann": {}, "bot": {"observe_others": True}})
    await home.say("s1", ("ann", SENTENCE))
    await home.raw.request("DELETE", "sessions/s1/peers", json=["bot"])
    await home.say("s1", ("ann", "My parrot is red."))
    assert "canary" in await home.knows("bot", "ann")
    assert "parrot" not in await home.knows("bot", "ann")


async def test_flags_change_what_follows_only(home: Household) -> None:
    await join(home, {"ann": {}, "bot": {"observe_others": True}})
    await home.say("s1", ("ann", SENTENCE))
    await home.raw.put("sessions/s1/peers/ann/config", json={"observe_me": False})
    await home.say("s1", ("ann", "My parrot is red."))
    assert "canary" in await home.knows("bot", "ann")
    assert "parrot" not in await home.knows("ann", "ann")


async def test_observers_hear_one_another_but_not_through_another_session(
    home: Household,
) -> None:
    watching = {"observe_others": True}
    await join(home, {"ann": watching, "bob": watching}, "s1")
    await join(home, {"ann": watching, "cy": watching}, "s2")
    await home.say("s1", ("ann", SENTENCE), ("bob", "My dog is big."))
    await home.say("s2", ("cy", "My cat is small."))
    assert "canary" in await home.knows("bob", "ann")
    assert await home.knows("cy", "ann") == ""
    assert await home.knows("bob", "cy") == ""
    assert "dog" in await home.knows("ann", "bob")
    assert "cat" in await home.knows("ann", "cy")


@pytest.mark.parametrize("where", ["message", "session", "workspace"])
async def test_what_is_not_to_be_thought_about(home: Household, where: str) -> None:
    off = {"reasoning": {"enabled": False}}
    if where == "workspace":
        await home.raw.put("../home", json={"configuration": off})
    if where == "session":
        await home.post("sessions", {"id": "s1", "configuration": off})
    more = {"configuration": off} if where == "message" else {}
    await home.say("s1", ("ann", SENTENCE), **more)
    assert await home.knows("ann", "ann") == ""
    on = {"configuration": {"reasoning": {"enabled": True}}}
    await home.say("s1", ("ann", "My parrot is red."), **on)
    assert "parrot" in await home.knows("ann", "ann")


async def test_the_same_names_in_another_workspace(home: Household) -> None:
    await home.say("s1", ("ann", SENTENCE))
    await home.raw.put("peers/ann/card", json={"peer_card": ["secret"]})
    elsewhere = "../other/peers/ann"
    answer = await home.post(f"{elsewhere}/representation", {})
    assert answer.json() == {"representation": ""}
    assert (await home.get(f"{elsewhere}/card")).status_code == 404
    asked = await home.post(f"{elsewhere}/chat", {"query": "canary"})
    assert asked.json() == {"content": None}


async def test_a_question_keeps_to_its_sessions(home: Household) -> None:
    await home.say("s1", ("ann", SENTENCE))
    await home.say("s2", ("ann", "My other canary is blue."))
    await home.raw.put("peers/ann/card", json={"peer_card": ["canary on the card"]})
    ask = {"query": "canary"}
    everything = (await home.post("peers/ann/chat", ask)).json()["content"]
    assert "card" in everything
    assert "keep" in everything
    only = {**ask, "filters": {"session_id": ["s2"]}}
    assert (await home.post("peers/ann/chat", only)).json()["content"] == (
        "[2026-11-29] “My other canary is blue.”"
    )
    none = {**ask, "filters": {"session_id": []}}
    assert (await home.post("peers/ann/chat", none)).json()["content"] is None


async def test_a_streamed_answer(home: Household) -> None:
    await home.say("s1", ("ann", "I keep a canary. My canary sings."))
    ann = await home.client.aio.peer("ann")
    stream = await ann.aio.chat_stream("What about the canary?")
    pieces = [piece async for piece in stream]
    assert len(pieces) == 2
    assert "".join(pieces).strip() == await ann.aio.chat("What about the canary?")
    silent = await ann.aio.chat_stream("dinosaurs?")
    assert [piece async for piece in silent] == []
    assert silent.is_complete
    assert await ann.aio.chat("dinosaurs?") is None
