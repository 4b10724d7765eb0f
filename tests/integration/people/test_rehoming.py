"""Memory follows identity: each word stands once, under the peer whose it is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from gateway.model.errors import (
    MemoryAmbiguousError,
    MemoryRejectedError,
    MemoryUnavailableError,
)
from gateway.store.people import Account
from tests.integration.people.street import Killed, Street
from tests.integration.people.town import OPERATOR

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from gateway.model.ids import SessionId
    from gateway.model.memory import MemoryMessage
    from tests.integration.people.town import Town

MIRA = Account("telegram", "", "700100200")
MIRA_TOO = Account("discord", "", "812345678901234567")
TOBIAS = Account("telegram", "", "700100201")
SHARED = "shared-kitchen"


@pytest.fixture
async def street(town: Town) -> AsyncIterator[Street]:
    """Mira with two accounts and Tobias, who all said something; memory has it."""
    street = Street(town.home)
    async with street.served():
        for account in (MIRA, MIRA_TOO, TOBIAS):
            await street.say(account)
            await street.say(account)
        await street.captured()
        yield street
    await street.store.close()


async def standing(street: Street) -> dict[str, Counter[str]]:
    """Return whose words each account's are in recall: peer → how many, and each only once.

    What stays until it is purged does not count.
    """
    kept = {
        home.name
        for places in (await street.places()).values()
        for home in places
        if home.state != "active"
    }
    speakers = await street.speakers()
    found: dict[str, Counter[str]] = {}
    for row in await street.kept():
        account = speakers[row.key][1]
        if account is not None and row.session not in kept:
            found.setdefault(account.user_id, Counter())[row.peer] += 1
    return found


async def test_an_alias_takes_what_was_said_along(street: Street) -> None:
    await street.set(telegram_700100200="mira", discord_812345678901234567="mira")
    seen = await street.rehoming.preview()
    assert (seen.estimate.sessions, seen.estimate.messages) == (2, 8)
    assert seen.moves == (("700100200", "mira"), ("812345678901234567", "mira"))
    job = await street.follow()
    assert (job.sessions_done, job.messages_done) == (2, 8)
    assert job.requests <= seen.estimate.calls
    assert await standing(street) == {
        MIRA.user_id: {"mira": 2},
        MIRA_TOO.user_id: {"mira": 2},
        TOBIAS.user_id: {"700100201": 2},
    }
    after = await street.rehoming.preview()
    assert (after.estimate.sessions, after.kept) == (0, 2)
    await street.say(MIRA)
    await street.captured()
    assert (await standing(street))[MIRA.user_id] == {"mira": 3}


async def test_old_peers_stay_until_they_are_purged(street: Street) -> None:
    before = await street.kept()
    await street.set(telegram_700100200="mira")
    await street.follow()
    assert (await street.kept())[: len(before)] == before
    job = await street.purge()
    assert (job.sessions_done, job.state) == (1, "done")
    assert {row.peer for row in await street.kept()} == {
        "mira",
        "hermes",
        MIRA_TOO.user_id,
        TOBIAS.user_id,
    }
    assert (await street.rehoming.preview()).kept == 0
    assert len(await street.kept()) == len(before)


async def test_undo_switches_back_without_a_request_that_writes(street: Street) -> None:
    before = await street.kept()
    applied = await street.set(telegram_700100201="700100200")
    await street.follow()
    assert (await standing(street))[TOBIAS.user_id] == {"700100200": 2}
    assert applied.id is not None
    await street.service.undo(applied.id, author=OPERATOR)
    assert (await street.rehoming.preview()).estimate.calls == 0
    job = await street.follow()
    assert job.messages_done == 0
    assert await street.kept() == before


async def test_undo_after_a_purge_copies_again(street: Street) -> None:
    applied = await street.set(telegram_700100201="700100200")
    await street.follow()
    await street.purge()
    assert applied.id is not None
    await street.service.undo(applied.id, author=OPERATOR)
    await street.follow()
    await street.purge()
    assert await standing(street) == {
        MIRA.user_id: {MIRA.user_id: 2},
        MIRA_TOO.user_id: {MIRA_TOO.user_id: 2},
        TOBIAS.user_id: {TOBIAS.user_id: 2},
    }
    assert len(await street.kept()) == 12


async def test_shared_sessions_are_rebuilt_only_on_request(street: Street) -> None:
    for account in (MIRA, TOBIAS, MIRA):
        await street.say(account, group=SHARED)
    await street.captured()
    await street.set(telegram_700100200="mira")
    seen = await street.rehoming.preview()
    assert (seen.estimate.sessions, seen.groups, seen.derived_anew) == (1, 1, ())
    await street.follow()
    assert (await standing(street))[MIRA.user_id] == {"mira": 2, MIRA.user_id: 2}
    asked = await street.rehoming.preview(groups=True)
    assert (asked.estimate.sessions, asked.derived_anew) == (1, ("700100201", "mira"))
    await street.follow(groups=True)
    assert (await standing(street))[MIRA.user_id] == {"mira": 4}
    assert (await standing(street))[TOBIAS.user_id] == {TOBIAS.user_id: 3}
    await street.say(TOBIAS, group=SHARED)
    await street.captured()
    assert (await standing(street))[TOBIAS.user_id] == {TOBIAS.user_id: 4}


async def test_only_the_people_who_were_named(street: Street) -> None:
    await street.set(telegram_700100200="mira", telegram_700100201="tobias")
    await street.follow("tobias")
    assert (await standing(street))[MIRA.user_id] == {MIRA.user_id: 2}
    assert (await standing(street))[TOBIAS.user_id] == {"tobias": 2}


async def test_at_most_four_requests_a_second(street: Street) -> None:
    await street.set(telegram_700100200="mira", discord_812345678901234567="mira")
    await street.captured()
    began = street.time.elapsed
    job = await street.follow()
    assert job.requests > 4
    assert street.time.elapsed - began >= (job.requests - 1) / 4


@pytest.mark.parametrize("stored", [False, True])
async def test_what_nobody_knows_of_is_asked_for(
    street: Street, monkeypatch: pytest.MonkeyPatch, stored: bool
) -> None:
    """The service breaks off in the middle of a write, and is gone for a while after that."""
    memory = street.following.memory
    real, faults = memory.add, 0

    async def add(session: SessionId, said: Sequence[MemoryMessage]) -> None:
        nonlocal faults
        faults += 1
        if faults == 1:
            if stored:
                await real(session, said)
            raise MemoryAmbiguousError("broken off")
        if faults < 4:
            raise MemoryUnavailableError("gone", code="memory_gone_for_now")
        await real(session, said)

    await street.set(telegram_700100200="mira", telegram_700100201="tobias")
    with monkeypatch.context() as patched:
        patched.setattr(memory, "add", add)
        job = await street.follow()
    assert (job.error, job.messages_done) == ("", 8)
    assert faults > 3
    found = await standing(street)
    assert (found[MIRA.user_id], found[TOBIAS.user_id]) == ({"mira": 2}, {"tobias": 2})
    speakers = await street.speakers()
    assert len(await street.kept()) == len(speakers) + 8


async def test_a_message_that_the_service_refuses_holds_nothing_up(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = street.following.memory
    real = memory.add

    async def add(session: SessionId, said: Sequence[MemoryMessage]) -> None:
        if any(one.text.startswith("words 1 ") for one in said):
            raise MemoryRejectedError("no")
        await real(session, said)

    await street.set(telegram_700100200="mira")
    with monkeypatch.context() as patched:
        patched.setattr(memory, "add", add)
        job = await street.follow()
    assert job.state == "done"
    assert (await standing(street))[MIRA.user_id] == {"mira": 1}


async def test_a_second_change_in_the_middle_wins(street: Street) -> None:
    """The job ends where the configuration of that moment says, not where it was begun."""
    street.kill(1, after=True)
    await street.set(telegram_700100200="wrong", telegram_700100201="tobias")
    with pytest.raises(Killed):
        await street.follow()
    await street.restart()
    await street.set(telegram_700100200="mira")
    await street.finished(1)
    found = await standing(street)
    assert (found[MIRA.user_id], found[TOBIAS.user_id]) == ({"mira": 2}, {"tobias": 2})
    await street.purge()
    assert "wrong" not in {row.peer for row in await street.kept()}
