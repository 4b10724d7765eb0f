"""Memory on the way to an answer, on the whole gateway: it costs no time and waits for nobody."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from gateway.memory.capture import Capture
from gateway.pipeline.prefetch import Prefetch
from tests.emulators.honcho_proxy import ALWAYS
from tests.fakes.household import GROUP, MIRA, STRANGER
from tests.integration.memory.whole import Whole, upstream
from tests.integration.pipeline import conftest as pipeline
from tests.integration.pipeline.support import mention, steps_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from gateway.mailbox.lanes import Lease, Outcome
    from tests.emulators.honcho_proxy import HonchoProxy
    from tests.emulators.telegram import TelegramEmulator

tg = pipeline.tg
#: seconds that a first answer may wait for memory, all in all
FIRST = 3.2
#: the path that opens a session
SESSIONS = "/sessions$"


@pytest.fixture
async def house(tmp_path: Path, tg: TelegramEmulator, template: Path) -> AsyncIterator[Whole]:
    async with upstream(tmp_path, template) as service:
        yield Whole(tmp_path, tg, service, database=template)


@pytest.fixture
def lanes(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """While it is cleared, nothing is fetched and nothing written behind an answer."""
    going = asyncio.Event()
    going.set()
    for kind in (Prefetch, Capture):
        _hold(monkeypatch, kind, going)
    return going


def _hold(
    monkeypatch: pytest.MonkeyPatch, kind: type[Prefetch | Capture], going: asyncio.Event
) -> None:
    handle = kind.handle

    async def held(self: Prefetch | Capture, lease: Lease) -> Outcome:
        await going.wait()
        return await handle(self, lease)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "handle", held)


# --- nothing is asked on the way -----------------------------------------------------------------


async def test_from_the_second_turn_on_no_request_comes_before_the_commit(
    house: Whole, lanes: asyncio.Event
) -> None:
    """C6, counted at the proxy."""
    async with house.running():
        await house.ask("I have a dog called Rex.")
        await house.ask("He is six.")
        asked = len(house.proxy.seen)
        assert asked > 0
        for number in range(3, 6):
            lanes.clear()
            house.clock.held = True
            asked = len(house.proxy.seen)
            house.tg.say(f"And what of my dog, take {number}?", user=MIRA)
            await house.until_committed(number)
            assert len(house.proxy.seen) == asked, f"turn {number} asked the service"
            assert "dog called Rex" in house.agent.runs[-1].request.recall
            house.clock.held = False
            lanes.set()
            await house.settled()


# --- a service in trouble ------------------------------------------------------------------------


async def slow(proxy: HonchoProxy) -> None:
    proxy.slow("", 40, times=ALWAYS)


async def refusing(proxy: HonchoProxy) -> None:
    await proxy.stop()


async def failing_after(proxy: HonchoProxy) -> None:
    proxy.fail_after("", 500, times=ALWAYS)


async def garbage(proxy: HonchoProxy) -> None:
    proxy.html("", times=ALWAYS)


async def hanging(proxy: HonchoProxy) -> None:
    proxy.hang_after("", times=ALWAYS)


@pytest.mark.parametrize("trouble", [slow, refusing, failing_after, garbage, hanging])
async def test_a_service_in_trouble_holds_back_no_answer_and_misses_no_message(
    house: Whole, trouble: object
) -> None:
    """H-48."""
    await trouble(house.proxy)  # type: ignore[operator]
    words = [f"Question {number}, please?" for number in range(1, 6)]
    async with house.running():
        house.clock.held = True
        began = house.clock.monotonic()
        house.tg.say(words[0], user=MIRA)
        await house.until(
            lambda: house.agent.runs or {2.0, 3.0} <= set(house.clock.pauses), "recall or answer"
        )
        if not house.agent.runs:
            await house.clock.let_pass(FIRST)
        await house.until_committed(1)
        assert house.clock.monotonic() - began <= FIRST
        for number, text in enumerate(words[1:], 2):
            # the time stands still: whoever waits for any of it never gets there
            house.tg.say(text, user=MIRA)
            await house.until_committed(number)
        assert [run.request.recall for run in house.agent.runs] == [""] * 5

        house.proxy.clear()
        await house.proxy.start()
        house.clock.held = False
        await house.answers(5)
        await house.saved()
    (stored,) = (await house.stored()).values()
    told = [(peer, text) for text in words for peer in ("mira", "hermes")]
    assert stored == [(peer, text if peer == "mira" else f"re: {text}") for peer, text in told]


# --- what is told ------------------------------------------------------------------------------

COLD = "My memory could not be reached just now"


async def said(house: Whole, text: str) -> str:
    """Say something that waits for nothing, and return the newest answer."""
    before = len(house.texts())
    house.tg.say(text, user=MIRA)
    return (await house.answers(before + 1))[-1]


async def test_a_person_is_told_once_that_memory_was_cold(house: Whole) -> None:
    """Once an outage and session, behind the answer; memory keeps no word of it."""
    async with house.running():
        assert COLD not in await said(house, "I have a dog called Rex.")
        await house.saved()
        await house.proxy.stop()
        await said(house, "/new")
        first = await said(house, "What is my dog called?")
        assert first.startswith("re: What is my dog called?")
        assert first.count(COLD) == 1
        assert COLD not in await said(house, "And how old is he?")
        await said(house, "/new")
        assert COLD in await said(house, "Do you know me?")
        await house.proxy.start()
        await house.saved()
    spoken = [text for texts in (await house.stored()).values() for _, text in texts]
    assert not any(COLD in text for text in spoken)
    assert [status for status, _ in steps_of(house, "recalled")] == ["cold", "cold"]


async def test_where_nothing_can_be_known_nothing_is_missed(house: Whole) -> None:
    await house.proxy.stop()
    async with house.running():
        assert await said(house, "Hello there, my friend.") == "re: Hello there, my friend."
        assert await said(house, "How are you doing?") == "re: How are you doing?"
        await house.proxy.start()
        await house.saved()


# --- what stays ----------------------------------------------------------------------------------


async def test_a_restart_between_turns_keeps_recall_warm(house: Whole) -> None:
    async with house.running():
        await house.ask("I have a dog called Rex.")
        await house.ask("He is six.")
    await house.proxy.stop()
    async with house.running():
        house.clock.held = True
        house.tg.say("What is my dog called?", user=MIRA)
        await house.until_committed(3)
        assert "dog called Rex" in house.agent.runs[-1].request.recall
        house.clock.held = False


async def test_a_person_who_is_known_is_known_in_a_new_session(house: Whole) -> None:
    """Its first turn, whose session the service has never heard of, gets both layers."""
    async with house.running() as gateway:
        await house.ask("I have a dog called Rex.")
        await house.ask("He is six.")
        house.tg.say("/new", user=MIRA)
        await house.answers(3)
        await house.settled()
        assert gateway.recall is not None
        await gateway.recall.settled()
        house.clock.held = True
        house.tg.say("What is my dog called?", user=MIRA)
        await house.until_committed(3)
        house.clock.held = False
    base, _, dialectic = house.agent.runs[-1].request.recall.partition("What may matter now:")
    assert "I have a dog called Rex." in base
    assert "I have a dog called Rex." in dialectic


async def test_another_identity_gets_another_session_and_nothing_recalled_for_the_old(
    house: Whole,
) -> None:
    async with house.running():
        for text in ("I have a dog called Rex.", "He is six.", "And hungry."):
            await house.ask(text)
    assert "dog" in house.agent.runs[-1].request.recall
    house.honcho(userPeerAliases={f"telegram:{MIRA}": "miriam"})
    await house.proxy.stop()
    async with house.running():
        house.tg.say("Do I have a dog?", user=MIRA)
        await house.until_committed(4)
        assert house.agent.runs[-1].request.recall == ""
        assert house.agent.runs[-1].history == []
    [(_, old, why), (_, new, _)] = house.sessions()
    assert (old, why, new) == ("mira", "identity", "miriam")
    assert "dog" in str(house.rows("SELECT base, next_base FROM recall WHERE peer = 'mira'"))


# --- the owner's files ---------------------------------------------------------------------------


@pytest.mark.parametrize(("owner", "uploads"), [("mira", 1), (None, 0)])
async def test_a_stranger_is_not_given_the_owners_files(
    house: Whole, owner: str | None, uploads: int
) -> None:
    """H-53."""
    places = {"telegram": [str(GROUP)]}
    house.configure(access={"places": places, "open_places": places})
    house.honcho(peerName=owner)
    house.home.memories.mkdir()
    (house.home.memories / "USER.md").write_text("Mira plays the cello.")
    for _ in range(2):
        async with house.running():
            await house.ask(mention("hello"), user=STRANGER, chat=GROUP)
            await house.ask("It is me")
            if owner:
                await house.until(
                    lambda: house.column("SELECT 1 FROM fact WHERE name LIKE 'seed:%'"), "seeded"
                )
    said = [each for rows in (await house.stored()).values() for each in rows]
    assert [peer for peer, text in said if "cello" in text] == ["mira"] * uploads
    assert {peer for peer, _ in said} >= {str(STRANGER), "mira", "hermes"}


async def test_an_answer_does_not_wait_for_the_owners_files(house: Whole) -> None:
    house.honcho(peerName="mira")
    house.home.soul.write_text("Be kind.")
    house.proxy.hang_after("", times=ALWAYS)
    async with house.running():
        await house.proxy.wait_for("")
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
    assert house.column("SELECT 1 FROM fact WHERE name LIKE 'seed:%'") == []


@pytest.mark.parametrize(("keys", "opened"), [({"initOnSessionStart": True}, True), ({}, False)])
async def test_in_tools_mode_the_session_is_opened_at_its_start_where_wanted(
    house: Whole, keys: dict[str, bool], opened: bool
) -> None:
    """Before the first tool call; otherwise the first message that is written opens it."""
    house.honcho(recallMode="tools", **keys)
    house.agent.hold()
    async with house.running():
        house.tg.say("I have a dog called Rex.", user=MIRA)
        await house.until(lambda: bool(house.agent.runs), "a run")
        if opened:
            await house.proxy.wait_for(SESSIONS)
        assert bool(house.proxy.matching(SESSIONS, "POST")) is opened
        house.agent.release()
        await house.until_committed(1)
        await house.settled()
        assert house.proxy.matching(SESSIONS, "POST")
