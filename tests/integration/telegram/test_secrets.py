"""H-42: no token and no word of a message in any log, status, fault or traceback."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING

import pytest

from gateway.model.errors import PlatformError
from gateway.ports import ConnectionState
from tests.integration.telegram.support import (
    TOKEN,
    MemoryIntake,
    WatchingClock,
    address,
    opened,
    part,
    running,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from tests.emulators.telegram.emulator import TelegramEmulator

SECRET = TOKEN.partition(":")[2]
WORDS = "Xylophon"


def assert_silent(
    told: list[str], caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = capsys.readouterr()
    for text in (*told, caplog.text, out, err):
        assert SECRET not in text
        assert WORDS not in text


async def test_receiving(
    tg: TelegramEmulator,
    intake: MemoryIntake,
    clock: WatchingClock,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    body = f'{{"ok": true, "result": [{{"text": "{WORDS}"'
    tg.malformed("getUpdates", body=body)
    tg.malformed("getUpdates", status=502, body=body)
    tg.fail("getUpdates", 404, "Not Found")
    tg.drop("getUpdates")
    tg.say(WORDS)
    tg.push({"message": {"message_id": WORDS, "text": WORDS}})
    async with running(tg, intake, clock) as adapter:
        await until(lambda: len(intake.received) == 2)
        await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
    faults = [received.fault for received in intake.received]
    assert any(faults)
    assert len(clock.seen) == 4
    assert_silent([*faults, *(status.detail for status in clock.seen)], caplog, capsys)


async def test_sending(
    tg: TelegramEmulator, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    tg.say("hello")
    told: list[str] = []
    async with opened(tg) as adapter:
        await adapter.typing(address())
        await adapter.send(part(WORDS))
        for code, description in (
            (400, f"can't parse entities: unsupported start tag {WORDS}"),
            (400, f"wrong address /bot{TOKEN}/sendMessage"),
            (401, "Unauthorized"),
            (404, "Not Found"),
            (500, f"bot{TOKEN}"),
        ):
            tg.fail("sendMessage", code, description)
            told.append(await failure(adapter.send(part(WORDS))))
        for fault in (tg.drop, tg.lose, tg.truncate, tg.malformed):
            fault("sendMessage")
            told.append(await failure(adapter.send(part(WORDS))))
        await tg.stop()
        told.append(await failure(adapter.send(part(WORDS))))
    assert len(told) == 10
    assert_silent(told, caplog, capsys)


async def failure(sending: Awaitable[object]) -> str:
    """Return all that a traceback would show of a failed call's own error."""
    with pytest.raises(PlatformError) as caught:
        await sending
    return "".join(traceback.format_exception_only(caught.value))
