"""Capture against a real memory service: each row once, in order, whatever goes wrong."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from gateway.store import messages
from tests.emulators.honcho_proxy import MESSAGES
from tests.integration.memory.scribe import AGENT, MIRA, TALK

if TYPE_CHECKING:
    from collections.abc import Callable

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
    "list fails": lambda proxy: (
        proxy.reset_after(MESSAGES),
        proxy.refuse("/messages/list$", 500, times=3),
    )[0],
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_one_fault_stores_nothing_twice(scribe: Scribe, fault: str) -> None:
    scribe.memory._clients = None
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
