"""A move into another memory service: everything arrives once, whoever dies on the way."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from gateway.memory.by_hand import ByHand
from gateway.model.ids import PeerId
from gateway.store.people import Account
from gateway.store.sqlite import SqliteStore
from tests.integration.people.street import Killed, Street
from tests.integration.people.town import OPERATOR

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from gateway.store.rehome_jobs import Job
    from tests.integration.people.town import Town

MIRA = Account("telegram", "", "700100200")
TOBIAS = Account("telegram", "", "700100201")


@pytest.fixture
async def elsewhere(tmp_path: Path, template: Path) -> AsyncIterator[SqliteStore]:
    """The database of another service."""
    path = tmp_path / "elsewhere.db"
    shutil.copy(template, path)
    store = SqliteStore(path)
    yield store
    await store.close()


@pytest.fixture
async def street(town: Town) -> AsyncIterator[Street]:
    street = Street(town.home)
    async with street.served():
        for account in (MIRA, TOBIAS, MIRA):
            await street.say(account)
        await street.say(MIRA, group="shared-kitchen")
        await street.captured()
        await street.set(telegram_700100200="mira")
        await street.follow()
        street.before = sorted(await street.kept())
    yield street
    await street.store.close()


async def _replayed(street: Street, person: str | None = None) -> Job:
    return await street.finished((await street.rehoming.replay(OPERATOR, person)).id)


async def test_everything_arrives_once_and_can_be_given_again(
    street: Street, elsewhere: SqliteStore
) -> None:
    async with street.served(by=elsewhere):
        await street.say(TOBIAS)
        job = await _replayed(street)
        assert (job.sessions_done, job.sessions_total) == (4, 4)
        assert sorted(await street.kept()) == street.before
        await street.captured()
        assert len(await street.kept()) == len(street.before) + 2
        again = await _replayed(street)
        assert again.state == "done"
        assert len(await street.kept()) == len(street.before) + 2
        assert (await street.memory.agents())["hermes"] == "hermes"


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 3])
async def test_a_kill_on_the_way_costs_nothing(
    street: Street, elsewhere: SqliteStore, at: int, after: bool
) -> None:
    async with street.served(by=elsewhere):
        street.kill(at, after=after)
        with pytest.raises(Killed):
            await _replayed(street)
        await street.restart()
        (job,) = await street.rehoming.jobs(1)
        assert job.state == "running" if at > 1 else job.messages_done == 0
        await street.finished(job.id)
        assert sorted(await street.kept()) == street.before


async def test_what_was_written_by_hand_arrives_too(
    street: Street, elsewhere: SqliteStore
) -> None:
    agent, mira, hands = PeerId("hermes"), PeerId("mira"), ByHand(street.store, street.time)
    session = next(iter(await street.places()))
    await hands.concluded(agent, mira, session, text="likes tea", ref="elsewhere")
    await hands.carded(agent, mira, ["has a dog"])
    async with street.served(by=elsewhere):
        for _ in range(2):
            await _replayed(street)
            known = await street.memory.conclusions(agent, mira)
            assert [text for _, text in known] == ["likes tea"]
            assert await street.memory.card(agent, mira) == ("has a dog",)


async def test_one_person_alone(street: Street, elsewhere: SqliteStore) -> None:
    async with street.served(by=elsewhere):
        await _replayed(street, "700100201")
        assert {row.peer for row in await street.kept()} == {"700100201", "hermes"}
        with pytest.raises(Exception, match="has not said anything"):
            await street.rehoming.replay(OPERATOR, "nobody")


async def test_undo_switches_back_in_the_new_service_too(
    street: Street, elsewhere: SqliteStore
) -> None:
    async with street.served(by=elsewhere):
        await _replayed(street)
        await street.service.undo(1, author=OPERATOR)
        job = await street.follow()
        assert job.messages_done == 0
        speakers = await street.speakers()
        said = [row for row in await street.kept() if speakers[row.key][1] == MIRA]
        assert [row.peer for row in said] == [MIRA.user_id] * 3
