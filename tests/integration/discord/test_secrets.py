"""H-42: no token and no word of a message in any log, status, fault or traceback."""

from __future__ import annotations

import logging
import traceback
from functools import partial
from typing import TYPE_CHECKING

import pytest

from gateway.model.errors import PlatformError
from tests.emulators.discord import CHANNEL, TOKEN
from tests.integration.discord.support import (
    MemoryIntake,
    WatchingClock,
    address,
    opened,
    part,
    running,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.emulators.discord import DiscordEmulator

SECRET = TOKEN.partition(".")[2]
WORDS = "Xylophon"


def assert_silent(
    told: list[str], caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = capsys.readouterr()
    for text in (*told, caplog.text, out, err):
        assert SECRET not in text
        assert WORDS not in text


async def test_receiving(
    dc: DiscordEmulator,
    intake: MemoryIntake,
    clock: WatchingClock,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    dc.fail("gateway", 500, message=WORDS)
    dc.fail("ws", 503)
    async with running(dc, intake, clock):
        dc.say(WORDS)
        dc.dispatch("MESSAGE_CREATE", {"id": WORDS, "content": WORDS})
        await until(lambda: len(intake.received) == 2)
        dc.frame(f'{{"content": "{WORDS}"')
        dc.say(WORDS)
        await until(lambda: len(intake.received) == 3)
    faults = [received.fault for received in intake.received]
    assert any(faults)
    assert_silent([*faults, *(status.detail for status in clock.seen)], caplog, capsys)


async def test_sending(
    dc: DiscordEmulator, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    told: list[str] = []
    async with opened(dc) as adapter:
        await adapter.typing(address())
        await adapter.send(part(WORDS, key="0"))
        for number, status in enumerate((400, 401, 403, 404, 503)):
            dc.fail("send", status, message="no")
            told.append(await failure(adapter.send(part(WORDS, key=f"a{number}"))))
        broken: tuple[Callable[[str], None], ...] = (
            dc.drop,
            dc.lose,
            partial(dc.page, status=200),
        )
        for number, plan in enumerate(broken):
            plan("send")
            told.append(await failure(adapter.send(part(WORDS, CHANNEL, key=f"b{number}"))))
        await dc.stop()
        told.append(await failure(adapter.send(part(WORDS, key="z"))))
    assert len(told) == 9
    assert_silent(told, caplog, capsys)


async def failure(sending: Awaitable[object]) -> str:
    """Return all that a traceback would show of a failed call's own error."""
    with pytest.raises(PlatformError) as caught:
        await sending
    return "".join(traceback.format_exception_only(caught.value))
