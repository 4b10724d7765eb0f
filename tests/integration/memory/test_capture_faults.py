"""Capture through whatever goes wrong outside: nothing is lost, nothing is stored twice."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from gateway.policy.crashes import MOST
from tests.emulators.honcho_proxy import ALWAYS, MESSAGES, Fault, Kind
from tests.fakes.fuzzing import THOROUGH
from tests.fakes.store import NEVER, MortalStore
from tests.integration.memory.scribe import AGENT, MIRA

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.honcho_proxy import HonchoProxy
    from tests.integration.memory.scribe import Scribe

LIST = "/messages/list$"

FAULTS: list[Callable[[HonchoProxy], None]] = [
    lambda proxy: None,
    lambda proxy: proxy.fail_after(MESSAGES, 500),
    lambda proxy: proxy.fail_after(MESSAGES, 502, times=2),
    lambda proxy: proxy.refuse(MESSAGES, 503),
    lambda proxy: proxy.limit(MESSAGES, retry_after=2),
    lambda proxy: proxy.reset_after(MESSAGES),
    lambda proxy: proxy.html(MESSAGES),
    lambda proxy: proxy.refuse(LIST, 500, times=2),
    lambda proxy: proxy.hang_after(MESSAGES),
]


async def impatient(scribe: Scribe) -> None:
    """Give up requests soon, so that a hanging one does not cost seconds."""
    await scribe.crash()
    scribe.timeout = 0.25
    await scribe.start()


async def texts(scribe: Scribe) -> list[str]:
    return [each.text for each in await scribe.stored()]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("seed", [1, 2] if THOROUGH else [1])
async def test_batches_with_random_faults(scribe: Scribe, seed: int) -> None:
    chance = random.Random(seed)
    await impatient(scribe)
    said: list[str] = []
    for number in range(100 if THOROUGH else 30):
        batch = [f"{number}.{each}" for each in range(chance.randint(1, 3))]
        said += batch
        chance.choices(FAULTS, [6, 2, 1, 1, 1, 2, 1, 1, 0.3])[0](scribe.proxy)
        await scribe.say(*batch)
        if chance.random() < 0.5:
            await scribe.run_for(chance.uniform(0.5, 20))
    await scribe.settled(timeout=120)
    assert await texts(scribe) == said
    assert await scribe.states() == ["saved"] * len(said)
    assert await scribe.index() == len(said)


@pytest.mark.timeout(240)
async def test_the_same_with_the_gateway_killed_between(scribe: Scribe) -> None:
    chance = random.Random(7)
    await impatient(scribe)
    said: list[str] = []
    for number in range(40):
        said.append(f"{number}")
        chance.choice(FAULTS[:7])(scribe.proxy)
        await scribe.say(f"{number}")
        await scribe.run_for(chance.uniform(0.0, 1.0))
        if number % 3 == 0:
            await scribe.crash()
            await scribe.start()
            await scribe.run_for(chance.uniform(0.0, 12.0))
    await scribe.settled(timeout=120)
    assert await texts(scribe) == said


async def test_a_service_that_is_down_for_an_hour_gets_it_all_in_order(scribe: Scribe) -> None:
    await scribe.proxy.stop()
    await scribe.say("one")
    for minute in range(60):
        await scribe.run_for(60)
        await scribe.say(f"minute {minute}")
    assert set(await scribe.states()) <= {"due", "sending"}
    assert await scribe.index() == 0
    assert scribe.memory.state.pause > 0
    await scribe.proxy.start()
    await scribe.settled()
    assert await texts(scribe) == ["one", *(f"minute {minute}" for minute in range(60))]
    assert scribe.memory.state.failures == 0


async def test_a_key_that_is_refused_pauses_all_and_loses_nothing(scribe: Scribe) -> None:
    scribe.proxy.refuse("", 401, times=ALWAYS)
    await scribe.open("other")
    await scribe.say("one")
    await scribe.say("two", to="other")
    await scribe.run_for(25)
    assert len(scribe.proxy.seen) <= 2, "the sessions went on knocking"
    assert scribe.memory.state.code == "memory_credentials"
    scribe.proxy.clear()
    await scribe.settled("talk", "other")
    assert await texts(scribe) == ["one"]


async def test_a_limit_is_waited_out(scribe: Scribe) -> None:
    scribe.proxy.limit(MESSAGES, retry_after=40)
    await scribe.say("one")
    await scribe.run_for(30)
    assert len(scribe.proxy.matching(MESSAGES)) == 1
    await scribe.run_for(15)
    await scribe.settled()
    assert await texts(scribe) == ["one"]


# --- a message that the service will not have ------------------------------------------------


def refuse_text(proxy: HonchoProxy, word: str, status: int) -> None:
    """Answer each request whose body holds ``word`` with ``status``, in the service's place."""
    plain = proxy._take

    def take(seen: object) -> Fault | None:
        if word.encode() in getattr(seen, "body", b""):
            return Fault(Kind.INSTEAD, "", status=status, body='{"detail": "no"}')
        return plain(seen)  # type: ignore[arg-type]  # what came in

    proxy._take = take  # type: ignore[method-assign]  # a fault that looks at the body


async def test_a_refused_message_is_set_aside_and_its_neighbours_arrive(scribe: Scribe) -> None:
    refuse_text(scribe.proxy, "POISON", 422)
    await scribe.say("one", "two", "POISON", "three", "four")
    await scribe.settled()
    assert await texts(scribe) == ["one", "two", "three", "four"]
    rows = await scribe.rows()
    assert rows == [("saved", "")] * 2 + [("parked", "refused")] + [("saved", "")] * 2
    assert await scribe.index() == 5


async def test_a_message_on_which_the_service_always_fails_is_set_aside(scribe: Scribe) -> None:
    refuse_text(scribe.proxy, "POISON", 500)
    await scribe.say("one", "POISON", "POISON", "two", "three")
    await scribe.settled(timeout=60)
    assert await texts(scribe) == ["one", "two", "three"]
    states = await scribe.rows()
    assert states == [("saved", ""), *[("parked", "failing")] * 2, *[("saved", "")] * 2]


async def test_nothing_is_set_aside_while_the_service_takes_nothing_at_all(scribe: Scribe) -> None:
    scribe.proxy.refuse(MESSAGES, 500, times=ALWAYS)
    await scribe.say("one", "two", "three")
    await scribe.run_for(3600)
    await scribe.say("four")
    await scribe.run_for(600)
    assert "parked" not in await scribe.states()
    scribe.proxy.clear()
    await scribe.settled(timeout=60)
    assert sorted(await texts(scribe)) == sorted(["one", "two", "three", "four"])
    assert await scribe.states() == ["saved"] * 4


@pytest.mark.timeout(120)
@pytest.mark.parametrize("before", [(), ("one",) * 20], ids=["alone", "in company"])
async def test_a_message_that_takes_the_process_down_is_set_aside(
    scribe: Scribe, before: tuple[str, ...]
) -> None:
    """The service is asked each time; what it does not have by then is not sent for ever."""
    real, kills = scribe.store, 0
    scribe.store = MortalStore(real, NEVER)
    kill_at(scribe, "POISON")
    await scribe.say(*before, "POISON", wake=False)

    async def over() -> bool:
        return died(scribe) or not {"due", "sending"} & set(await scribe.states())

    await scribe.until(over)
    while died(scribe):
        kills += 1
        await scribe.crash()
        scribe.store = MortalStore(real, NEVER)
        await scribe.start()
        await scribe.until(over)
    assert MOST <= kills <= 2 * MOST
    await scribe.say("two")
    await scribe.settled()
    assert await texts(scribe) == [*before, "two"]
    assert ("parked", "failing") in await scribe.rows()
    assert [state for state in await scribe.states() if state != "saved"] == ["parked"]


def died(scribe: Scribe) -> bool:
    assert isinstance(scribe.store, MortalStore)
    return scribe.store.dead.is_set()


def kill_at(scribe: Scribe, word: str) -> None:
    """Let the process die, and the service store nothing, at each request that holds ``word``."""
    plain = scribe.proxy._take

    def take(seen: object) -> Fault | None:
        if word.encode() not in getattr(seen, "body", b""):
            return plain(seen)  # type: ignore[arg-type]  # what came in
        assert isinstance(scribe.store, MortalStore)
        scribe.store.dead.set()
        return Fault(Kind.INSTEAD, "", status=500, body="{}")

    scribe.proxy._take = take  # type: ignore[method-assign]  # a fault that looks at the body


# --- sessions ----------------------------------------------------------------------------------


async def test_a_deleted_session_is_replaced_and_the_rest_goes_there(scribe: Scribe) -> None:
    await scribe.say("before")
    await scribe.settled()
    await scribe.delete()
    await scribe.say("after one", "after two")
    await scribe.until(lambda: _states_are(scribe, ["saved"]))
    fresh = await scribe.current()
    assert fresh != "talk"
    await scribe.settled(fresh)
    assert [each.text for each in await scribe.stored(fresh)] == ["after one", "after two"]
    assert await scribe.index() == 3
    assert await scribe.index(fresh) == 2
    await scribe.say("a turn that had begun before")
    await scribe.until(lambda: _states_are(scribe, ["saved"]))
    await scribe.settled(fresh)
    assert [each.text for each in await scribe.stored(fresh)][-1] == "a turn that had begun before"


async def _states_are(scribe: Scribe, states: list[str]) -> bool:
    return await scribe.states() == states


async def test_a_wrong_address_replaces_no_session(scribe: Scribe) -> None:
    scribe.proxy.refuse("", 404, times=ALWAYS)
    await scribe.say("one")
    await scribe.run_for(300)
    assert await scribe.current() == "talk"
    scribe.proxy.clear()
    await scribe.settled()
    assert await texts(scribe) == ["one"]


async def test_two_flushers_send_one_batch(scribe: Scribe) -> None:
    """H-46: whoever asks for a flush, there is one writer for each session."""
    await scribe.say("one", "two", wake=False)
    await scribe.watch.drain()
    await scribe.say("three")
    await scribe.watch.drain()
    await scribe.settled()
    assert await texts(scribe) == ["one", "two", "three"]
    bodies = [seen.json["messages"] for seen in scribe.proxy.matching(MESSAGES, "POST")]
    assert sum(map(len, bodies)) == 3


async def test_the_members_and_their_flags_are_read_back(scribe: Scribe) -> None:
    await scribe.say("hi")
    await scribe.say("hello", role="assistant", peer=AGENT)
    await scribe.settled()
    members = await scribe.members()
    assert set(members) == {MIRA, AGENT}
    assert (members[MIRA].observe_me, members[MIRA].observe_others) == (True, True)
    opened = scribe.proxy.matching(r"/sessions$", "POST")
    assert len(opened) == 1, "opened once, not once a batch"


async def test_thirty_speakers_observe_nobody(scribe: Scribe) -> None:
    await scribe.open("room", peer=None)
    for number in range(30):
        await scribe.say(f"I am {number}", to="room", peer=f"u{number}")
    await scribe.settled("room")
    members = await scribe.members("room")
    assert len(members) == 31
    observers = [peer for peer, flags in members.items() if flags.observe_others]
    assert observers == [AGENT]
    assert all(flags.observe_me for flags in members.values())
    await scribe.say("one more", to="room", peer="late")
    await scribe.settled("room")
    assert len(await scribe.stored("room")) == 31
    assert set(await scribe.members("room")) - set(members) == {"late"}
