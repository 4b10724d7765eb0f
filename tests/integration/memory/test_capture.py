"""Capture against a real memory service: each row once, in order, whatever goes wrong."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from gateway.memory.watch import SERVICE
from gateway.model.ids import PeerId
from gateway.store import facts
from tests.emulators.honcho_proxy import MESSAGES
from tests.integration.memory.scribe import AGENT, MIRA, TALK, with_rules

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gateway.policy.saving import Frequency
    from tests.emulators.honcho_proxy import HonchoProxy
    from tests.integration.memory.scribe import Scribe


async def texts(scribe: Scribe, to: str = TALK) -> list[str]:
    return [each.text for each in await scribe.stored(to)]


async def test_a_message_arrives_with_its_key_author_and_time(scribe: Scribe) -> None:
    at = datetime(2026, 11, 28, 23, 50, 1, 234567, tzinfo=UTC)
    (key,) = await scribe.say("I moved to Graz", at=at)
    await scribe.settled()
    assert await scribe.stored() == [(key, MIRA, "I moved to Graz", at)]
    assert await scribe.states() == ["saved"]
    assert await scribe.index() == 1


FAULTS: dict[str, Callable[[HonchoProxy], None]] = {
    "502 after": lambda proxy: proxy.fail_after(MESSAGES, 502),
    "500 after": lambda proxy: proxy.fail_after(MESSAGES, 500),
    "503 instead": lambda proxy: proxy.refuse(MESSAGES, 503),
    "429": lambda proxy: proxy.limit(MESSAGES, retry_after=3),
    "reset": lambda proxy: proxy.reset_after(MESSAGES),
    "hang": lambda proxy: proxy.hang_after(MESSAGES),
    "page": lambda proxy: proxy.html(MESSAGES),
    "502 twice": lambda proxy: proxy.fail_after(MESSAGES, 502, times=2),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_one_fault_stores_nothing_twice(scribe: Scribe, fault: str) -> None:
    await scribe.crash()
    scribe.timeout = 0.3
    await scribe.start()
    FAULTS[fault](scribe.proxy)
    await scribe.say("one", "two", "three")
    await scribe.settled()
    await scribe.say("four")
    await scribe.settled()
    assert await texts(scribe) == ["one", "two", "three", "four"]
    assert await scribe.states() == ["saved"] * 4
    assert await scribe.index() == 4


# --- what goes, and when -----------------------------------------------------------------------


async def test_an_answer_waits_for_its_delivery_and_holds_back_its_own_session(
    scribe: Scribe,
) -> None:
    await scribe.open("other")
    await scribe.say("question")
    await scribe.say("answer", role="assistant", peer=AGENT, held=True)
    await scribe.say("next question")
    await scribe.say("elsewhere", to="other")
    await scribe.settled("other")
    assert await texts(scribe) == ["question"]
    await scribe.let_go("t2")
    await scribe.settled()
    assert await texts(scribe) == ["question", "answer", "next question"]


async def test_an_answer_that_was_never_delivered_is_skipped(scribe: Scribe) -> None:
    await scribe.say("question")
    await scribe.say("answer", role="assistant", peer=AGENT, held=True)
    await scribe.say("next question")
    await scribe.let_go("t2", delivered=False)
    await scribe.settled()
    assert await texts(scribe) == ["question", "next question"]
    assert await scribe.rows() == [("saved", ""), ("skipped", "undelivered"), ("saved", "")]
    assert await scribe.index() == 3


async def test_switching_saving_off_stops_what_waits_on_every_path(scribe: Scribe) -> None:
    """W2, H-46: nothing is sent, at shutdown neither, and nothing when it is on again."""
    scribe.rules = with_rules(frequency="session")
    await scribe.say("before it was off")
    await scribe.run_for(10)
    scribe.rules = with_rules(skip_user="saveMessages", skip_agent="saveMessages")
    await scribe.say("while it is off", skip="saveMessages")
    await scribe.stop()
    scribe.rules = with_rules()
    await scribe.start()
    await scribe.run_for(3600)
    assert await scribe.rows() == [("skipped", "saveMessages")] * 2
    assert scribe.proxy.seen == []
    await scribe.say("on again")
    await scribe.settled()
    assert await texts(scribe) == ["on again"]


@pytest.mark.parametrize(
    ("frequency", "steps"),
    [
        ("async", ["a", "ab", "abc"]),
        ("turn", ["a", "ab", "abc"]),
        ("session", ["", "", ""]),
        (2, ["", "ab", "ab"]),
        (3, ["", "", "abc"]),
    ],
)
async def test_how_often_is_written(
    scribe: Scribe, frequency: Frequency, steps: list[str]
) -> None:
    scribe.rules = with_rules(frequency=frequency)
    found = []
    for text in "abc":
        await scribe.say(text)
        await scribe.run_for(20)
        found.append("".join(await texts(scribe)))
    assert found == steps


ENDS: dict[str, Callable[[Scribe], Awaitable[None]]] = {
    "silence": lambda scribe: scribe.run_for(30 * 60 + 10),
    "reset": lambda scribe: scribe.close(),
    "shutdown": lambda scribe: scribe.stop(),
    "flush": lambda scribe: scribe.flush(),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("frequency", ["session", 5])
async def test_the_remainder_goes_at_the_end(
    scribe: Scribe, frequency: Frequency, end: str
) -> None:
    scribe.rules = with_rules(frequency=frequency)
    await scribe.say("a", "b")
    await scribe.run_for(60)
    assert await texts(scribe) == []
    await ENDS[end](scribe)
    await scribe.run_for(20)
    assert await texts(scribe) == ["a", "b"]
    assert len(scribe.proxy.matching(MESSAGES, "POST")) == 1


async def test_a_shutdown_waits_for_no_dead_service_and_loses_nothing(scribe: Scribe) -> None:
    await scribe.proxy.stop()
    await scribe.say("a")
    began = asyncio.get_running_loop().time()
    await scribe.stop()
    assert asyncio.get_running_loop().time() - began < 3
    await scribe.proxy.start()
    await scribe.start()
    await scribe.settled()
    assert await texts(scribe) == ["a"]


# --- what the service gets ---------------------------------------------------------------------


LONG = {
    "at the limit": "a" * 25_000,
    "one over": "a" * 25_001,
    "two bytes each": "é" * 25_001,
    "four bytes each": "😀" * 26_000,
    "one word": "w" * 60_000,
    "sentences": "This is said. " * 4_000,
}


@pytest.mark.parametrize("name", LONG)
async def test_a_long_message_arrives_in_parts(scribe: Scribe, name: str) -> None:
    """H-49."""
    await scribe.say(LONG[name], "short")
    await scribe.settled()
    *parts, last = await scribe.stored()
    assert last.text == "short"
    assert all(len(part.text) <= 25_000 for part in parts)
    assert "".join(re.sub(r"^\[\d+/\d+\] ", "", part.text) for part in parts) == LONG[name]
    assert len({part.key for part in parts}) == len(parts)
    assert len({part.sent_at for part in parts}) == 1


@pytest.mark.parametrize("fault", ["none", "reset", "limit"])
async def test_a_message_in_more_parts_than_a_request_holds(scribe: Scribe, fault: str) -> None:
    scribe.rules = with_rules(part_limit=20)
    text = "abcdefgh " * 250
    if fault == "reset":
        scribe.proxy.slow(MESSAGES, 0)
        scribe.proxy.reset_after(MESSAGES)
    elif fault == "limit":
        scribe.proxy.slow(MESSAGES, 0)
        scribe.proxy.limit(MESSAGES, retry_after=1)
    await scribe.say("first", text, "last")
    await scribe.settled()
    first, *parts, last = await texts(scribe)
    assert (first, last) == ("first", "last")
    assert len(parts) > 200
    assert "".join(re.sub(r"^\[\d+(/\d+)?\] ", "", part) for part in parts) == text


async def test_a_changed_limit_does_not_change_what_was_cut_before(scribe: Scribe) -> None:
    text = "".join(f"{number:03} " for number in range(100))
    scribe.rules = with_rules(part_limit=50)
    scribe.proxy.slow("/sessions$", 0.2)
    scribe.proxy.fail_after(MESSAGES)
    await scribe.say(text)
    await scribe.until(lambda: _in_flight(scribe))
    scribe.rules = with_rules(part_limit=70)
    await scribe.settled()
    parts = await texts(scribe)
    assert all(len(part) <= 50 for part in parts)
    assert "".join(re.sub(r"^\[\d+/\d+\] ", "", part) for part in parts) == text


async def _in_flight(scribe: Scribe) -> bool:
    return await scribe.states() == ["sending"]


@pytest.mark.parametrize("mark", ["<|endoftext|>", "<|fim_prefix|>", "<|im_start|>system"])
async def test_a_tokenizer_mark_is_broken_up_on_the_way_only(scribe: Scribe, mark: str) -> None:
    await scribe.say(f"what is {mark}?")
    await scribe.settled()
    assert await texts(scribe) == [f"what is {mark.replace('<|', '<|' + chr(0x200B))}?"]


@pytest.mark.parametrize("value", [-1, 10**9, 1, "10"])
async def test_a_wrong_saved_position_is_repaired_and_resends_nothing(
    scribe: Scribe, value: object
) -> None:
    """H-47."""
    await scribe.say("a", "b", "c")
    await scribe.settled()
    await scribe.stop()
    await scribe.spoil_index(value)
    await scribe.start()
    await scribe.say("d")
    await scribe.settled()
    assert await scribe.index() == 4
    assert await texts(scribe) == ["a", "b", "c", "d"]


async def test_times_out_of_order_stay_as_they_are(scribe: Scribe) -> None:
    """H-52: the order is that of the conversation, the time that of the platform."""
    late, early = (
        datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
        datetime(2026, 3, 29, 0, 30, tzinfo=UTC),
    )
    await scribe.say("first", at=late)
    await scribe.say("second", at=early)
    await scribe.settled()
    found = await scribe.stored()
    assert [(each.text, each.sent_at) for each in found] == [("first", late), ("second", early)]


async def test_somebody_who_is_nobody_is_not_observed(scribe: Scribe) -> None:
    await scribe.turn("t1", rung="unattributed")
    await scribe.say("posted by a channel", peer="anon-telegram-00000000")
    await scribe.settled()
    flags = (await scribe.members())[PeerId("anon-telegram-00000000")]
    assert (flags.observe_me, flags.observe_others) == (False, False)


async def test_the_agent_is_entered_in_the_workspace_once(scribe: Scribe) -> None:
    await scribe.say("a")
    await scribe.settled()
    assert await scribe.memory.agents() == {"hermes": AGENT}
    await scribe.stop()
    await scribe.start()
    await scribe.open("other")
    await scribe.say("b", to="other")
    await scribe.settled("other")
    written = scribe.proxy.matching(r"/workspaces/[^/]+$", "PUT")
    assert len(written) == 1


async def test_how_the_service_is_can_be_read_by_others(scribe: Scribe) -> None:
    await scribe.proxy.stop()
    await scribe.say("a")
    await scribe.run_for(120)
    told = await scribe.store.read(lambda conn: facts.get(conn, SERVICE))
    assert json.loads(told or "{}") == {"paused": True, "code": "memory_unavailable"}
    await scribe.proxy.start()
    await scribe.settled()
    await scribe.run_for(10)
    told = await scribe.store.read(lambda conn: facts.get(conn, SERVICE))
    assert json.loads(told or "{}") == {"paused": False, "code": ""}
