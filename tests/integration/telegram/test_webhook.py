"""Webhook mode: only Telegram is believed, and 200 means stored."""

from __future__ import annotations

import asyncio
import json
import socket
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from adapters.telegram.manifest import WebhookSettings
from adapters.telegram.webhook import LOOK, SECRET_HEADER, WebhookAddress
from gateway.model.errors import StoreBusyError
from gateway.ports import ConnectionState
from tests.integration.telegram.support import (
    OTHER_TOKEN,
    TOKEN,
    MemoryIntake,
    WatchingClock,
    running,
    running_all,
    until,
)

if TYPE_CHECKING:
    from adapters.telegram.adapter import TelegramAdapter
    from tests.emulators.telegram.emulator import TelegramEmulator


class StandingClock(WatchingClock):
    """Tells the real time, as Telegram does; ``look`` ends the wait for the next look."""

    def __init__(self) -> None:
        super().__init__()
        self.look = asyncio.Event()

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        if seconds == LOOK:
            await self.look.wait()
            self.look.clear()


@pytest.fixture
def port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


def settings(port: int) -> WebhookSettings:
    return WebhookSettings(url=f"http://127.0.0.1:{port}/tg", port=port)


def webhook(port: int) -> dict[str, Any]:
    return {"mode": "webhook", "webhook": settings(port)}


async def connected(adapter: TelegramAdapter) -> None:
    await until(lambda: adapter.status.state is ConnectionState.CONNECTED)


async def post(url: str, body: bytes, secret: str | None) -> int:
    headers = {} if secret is None else {SECRET_HEADER: secret}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, headers=headers) as answer,
    ):
        return answer.status


async def test_updates_are_taken_in_one_by_one(
    tg: TelegramEmulator, intake: MemoryIntake, clock: StandingClock, port: int
) -> None:
    tg.say("before the start")
    async with running(tg, intake, clock, **webhook(port)) as adapter:
        await connected(adapter)
        for number in range(5):
            tg.say(f"message {number}")
        await until(lambda: not tg.pending())
    assert intake.texts == ["before the start", *(f"message {number}" for number in range(5))]
    [call] = tg.calls_of("setWebhook")
    assert "edited_message" in call.args["allowed_updates"]
    assert call.args["secret_token"]
    assert tg.calls_of("getUpdates") == []


async def test_200_means_stored(
    tg: TelegramEmulator, intake: MemoryIntake, clock: StandingClock, port: int
) -> None:
    intake.refusals += [StoreBusyError("busy"), StoreBusyError("busy")]
    async with running(tg, intake, clock, **webhook(port)) as adapter:
        await connected(adapter)
        tg.say("hello")
        tg.say("after")
        await until(lambda: not tg.pending())
    assert intake.texts == ["hello", "after"]


async def test_nothing_is_confirmed_while_it_is_being_stored(
    tg: TelegramEmulator, intake: MemoryIntake, clock: StandingClock, port: int
) -> None:
    """H-15: a crash at this moment makes Telegram send it again."""
    intake.gate.clear()
    async with running(tg, intake, clock, **webhook(port)) as adapter:
        await connected(adapter)
        tg.say("hello")
        await intake.waiting.wait()
        assert [update["message"]["text"] for update in tg.pending()] == ["hello"]
        intake.gate.set()
        await until(lambda: not tg.pending())
    assert intake.texts == ["hello"]


async def test_what_comes_while_we_are_away_is_kept(
    tg: TelegramEmulator, intake: MemoryIntake, port: int
) -> None:
    async with running(tg, intake, StandingClock(), **webhook(port)) as adapter:
        await connected(adapter)
    tg.say("meanwhile")
    await asyncio.sleep(0.1)
    async with running(tg, intake, StandingClock(), **webhook(port)) as adapter:
        await connected(adapter)
        await until(lambda: intake.texts == ["meanwhile"])
    assert tg.calls_of("deleteWebhook") == []


async def test_back_to_polling(
    tg: TelegramEmulator, intake: MemoryIntake, clock: StandingClock, port: int
) -> None:
    async with running(tg, intake, clock, **webhook(port)) as adapter:
        await connected(adapter)
        tg.say("posted")
        await until(lambda: intake.texts)
    tg.say("polled")
    async with running(tg, intake) as adapter:
        await until(lambda: len(intake.texts) > 1)
        await connected(adapter)
        assert "webhook" in adapter.status.detail
    assert intake.texts == ["posted", "polled"]
    assert len(tg.calls_of("deleteWebhook")) == 1


async def test_only_telegram_is_believed(
    tg: TelegramEmulator, intake: MemoryIntake, clock: StandingClock, port: int
) -> None:
    address = WebhookAddress(settings(port), TOKEN)
    body = json.dumps({"update_id": 1, "message": {"text": "forged"}}).encode()
    root = f"http://127.0.0.1:{port}"
    async with running(tg, intake, clock, **webhook(port)) as adapter:
        await connected(adapter)
        for wrong in (None, "", "guess", address.secret[:-1], f"{address.secret}x"):
            assert await post(address.url, body, wrong) == 403
        for path in ("", "/tg", "/tg/guess", f"/{TOKEN}", f"/tg/{address.segment}/x"):
            assert await post(root + path, body, address.secret) == 404
        assert intake.received == []
        assert await post(f"{root}/{address.segment}", body, address.secret) == 200
        assert await post(address.url, b"{no json", address.secret) == 200
    assert [each.event for each in intake.received] == [None, None]
    assert [each.fault for each in intake.received] != ["", ""]
    with pytest.raises(aiohttp.ClientConnectionError):
        await post(address.url, body, address.secret)


async def test_an_odd_update_blocks_nobody(
    tg: TelegramEmulator, intake: MemoryIntake, clock: StandingClock, port: int
) -> None:
    async with running(tg, intake, clock, **webhook(port)) as adapter:
        await connected(adapter)
        poison = tg.push({"message": {"message_id": "ten", "text": "private"}})
        tg.say("after")
        await until(lambda: not tg.pending())
    assert intake.texts == ["after"]
    assert intake.received[0].update == str(poison)


async def test_two_bots_share_the_port_and_never_meet(
    tg: TelegramEmulator, intake: MemoryIntake, clock: StandingClock, port: int
) -> None:
    tg.bot(OTHER_TOKEN, username="second_bot")
    tokens = f"{TOKEN},{OTHER_TOKEN}"
    async with running_all(tg, intake, clock, tokens=tokens, **webhook(port)) as adapters:
        for adapter in adapters:
            await connected(adapter)
        tg.say("to one", bot=TOKEN)
        tg.say("to two", bot=OTHER_TOKEN)
        await until(lambda: len(intake.events) == 2)
        foreign = WebhookAddress(settings(port), OTHER_TOKEN)
        own = WebhookAddress(settings(port), TOKEN)
        assert await post(own.url, b"{}", foreign.secret) == 403
    accounts = {event.text: event.account for event in intake.events}
    assert accounts == {"to one": "123456", "to two": "654321"}


# --- trouble -------------------------------------------------------------------------------------


async def test_a_port_in_use_is_said(
    tg: TelegramEmulator, intake: MemoryIntake, clock: StandingClock
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        used = int(taken.getsockname()[1])
        async with running(tg, intake, clock, **webhook(used)):
            await until(lambda: clock.seen)
    assert str(used) in clock.seen[0].detail
    assert "platforms.telegram.webhook.port" in clock.seen[0].detail


async def test_a_webhook_that_was_taken_away_is_said_and_set_again(
    tg: TelegramEmulator, intake: MemoryIntake, clock: StandingClock, port: int
) -> None:
    async with running(tg, intake, clock, **webhook(port)) as adapter:
        await connected(adapter)
        await take_away(tg)
        clock.look.set()
        await until(lambda: adapter.status.state is ConnectionState.CONFLICT)
        tg.say("hello")
        await until(lambda: intake.texts == ["hello"])
        clock.look.set()
        await connected(adapter)
    assert len(tg.calls_of("setWebhook")) == 2


async def take_away(tg: TelegramEmulator) -> None:
    async with aiohttp.ClientSession() as session:
        await session.post(f"{tg.base_url}{TOKEN}/deleteWebhook")


async def test_an_address_that_telegram_cannot_reach_is_said(
    tg: TelegramEmulator, intake: MemoryIntake, clock: StandingClock, port: int
) -> None:
    elsewhere = WebhookSettings(url="http://127.0.0.1:9/tg", port=port)
    tg.say("hello")
    async with running(tg, intake, clock, mode="webhook", webhook=elsewhere) as adapter:
        await until(lambda: "webhook.url" in adapter.status.detail)
        assert adapter.status.state is ConnectionState.RETRYING
        assert "Connection refused" in adapter.status.detail
        secret = WebhookAddress(elsewhere, TOKEN)
        assert secret.segment not in adapter.status.detail


async def test_polling_beside_a_webhook_is_refused(
    tg: TelegramEmulator, intake: MemoryIntake, clock: StandingClock, port: int
) -> None:
    async with running(tg, intake, clock, **webhook(port)) as adapter:
        await connected(adapter)
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{tg.base_url}{TOKEN}/getUpdates") as answer,
        ):
            assert answer.status == 409
            assert "webhook is active" in (await answer.json())["description"]
