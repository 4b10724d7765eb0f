"""All three platforms in one process, one of them down: the others notice nothing of it."""

from __future__ import annotations

import random
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from gateway.ports import ConnectionState
from tests.stress.fronts import all_fronts
from tests.stress.town import Town

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from gateway import app

#: what goes wrong on a platform that is up while another one is down
RECIPES = {
    "telegram": ("lost", "429", "502 page", "poll dropped", "poison", "duplicate"),
    "discord": ("lost", "429", "502 page", "cut", "session lost", "poison", "duplicate"),
    "slack": ("lost", "429", "502 page", "ticket dead", "edit lost", "poison", "duplicate"),
}
NAMES = tuple(RECIPES)


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    async with AsyncExitStack() as stack:
        fronts = all_fronts()
        for front in fronts:
            await stack.enter_async_context(front.server)
        yield Town(tmp_path, fronts, random.Random(3))


def state_of(gateway: app.Gateway, name: str) -> ConnectionState:
    return next(each.status.state for each in gateway.adapters if each.platform == name)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("down", NAMES)
async def test_the_others_go_on_and_it_catches_up(town: Town, down: str) -> None:
    others = [name for name in NAMES if name != down]
    front = town.fronts[down]
    async with town.running() as gateway:
        await town.connected(gateway, *NAMES)
        for name in NAMES:
            town.say(name, 0)
        await town.quiet()
        await front.server.stop()
        town.say(down, 0)
        for name in others:
            for recipe in RECIPES[name]:
                town.fronts[name].faults()[recipe]()
                town.say(name, 0)
                await town.quiet(name)
        await town.until(
            lambda: state_of(gateway, down) is ConnectionState.RETRYING, lambda: f"{down} is down"
        )
        await front.server.start()
        town.say(down, 0)
        await town.quiet()

    # The next start finds it down, and does not wait for it.
    await front.server.stop()
    async with town.running() as gateway:
        await town.connected(gateway, *others)
        town.say(down, 0)
        for name in others:
            town.say(name, 0)
        await town.quiet(*others)
        assert state_of(gateway, down) is not ConnectionState.CONNECTED
        await front.server.start()
        await town.quiet()
    counts = town.verify()
    assert [counts[name] for name in NAMES] == [
        4 if name == down else 2 + len(RECIPES[name]) for name in NAMES
    ]


@pytest.mark.parametrize("revoked", NAMES)
async def test_a_token_that_is_refused_stops_one_platform_alone(town: Town, revoked: str) -> None:
    others = [name for name in NAMES if name != revoked]
    town.fronts[revoked].revoke()
    async with town.running() as gateway:
        await town.connected(gateway, *others)
        for name in others:
            town.say(name, 0)
        await town.quiet(*others)
        await town.until(
            lambda: state_of(gateway, revoked) is ConnectionState.BAD_CREDENTIALS,
            lambda: f"{revoked} is refused",
        )
    town.verify()
