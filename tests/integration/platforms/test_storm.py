"""Three platforms in one process while everything goes wrong: ``make stress``, in short."""

from __future__ import annotations

import os
import random
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from tests.stress.fronts import all_fronts
from tests.stress.storm import Weather, storm
from tests.stress.town import Town

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(240)


async def test_every_message_is_answered_once_and_in_order(tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("GATEWAY_STORM_SEED", "20")))
    async with AsyncExitStack() as stack:
        fronts = all_fronts()
        for front in fronts:
            await stack.enter_async_context(front.server)
        town = Town(tmp_path, fronts, chance)
        report = await storm(town, Weather(messages=60, conversations=10), chance)
    assert [report.counts[name] for name in town.fronts] == [60, 60, 60]
    assert report.planned.total() >= 20
