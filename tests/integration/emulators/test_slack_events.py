"""The emulated Socket Mode and HTTP events as the unmodified Bolt sees them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request

from tests.emulators.slack import APP_TOKEN, CHANNEL
from tests.integration.emulators.slack_app import bolt, slack_with_a_bot, socket_mode, web_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.emulators.slack import SlackEmulator

DM = "D0MIRA0001"


@pytest.fixture
async def slack() -> AsyncIterator[SlackEmulator]:
    async with slack_with_a_bot() as emulator:
        yield emulator


async def test_what_people_do_is_heard(slack: SlackEmulator) -> None:
    heard: list[dict[str, Any]] = []
    async with socket_mode(slack, bolt(slack, heard)):
        ts = slack.say("hello")
        slack.edit(DM, ts, "hello again")
        slack.unfurl(DM, ts)
        slack.delete(DM, ts)
        root = slack.mention("deploy")
        slack.thread("and now", root)
        slack.bot_say("beep")
        await slack.wait_until_acked()
    kinds = [(event["type"], event.get("subtype")) for event in heard]
    assert sorted(kinds, key=str) == sorted(
        [
            ("message", None),
            ("message", "message_changed"),
            ("message", "message_changed"),
            ("message", "message_deleted"),
            ("message", None),
            ("app_mention", None),
            ("message", None),
            ("message", None),
        ],
        key=str,
    )
    pair = [event["ts"] for event in heard if "deploy" in str(event.get("text"))]
    assert pair == [root, root]


async def test_own_posts_and_edits_come_back(slack: SlackEmulator) -> None:
    slack.channel(CHANNEL)
    client = web_client(slack)
    posted = await client.chat_postMessage(channel=CHANNEL, text="mine")
    await client.chat_update(channel=CHANNEL, ts=posted["ts"], text="mine too")
    assert await slack.until(lambda: len(slack.delivery.attempts) >= 2, 5)
    said, changed = [attempt.payload["event"] for attempt in slack.delivery.attempts[:2]]
    assert (said["bot_id"], said["text"]) == ("B0BROOK001", "mine")
    assert changed["previous_message"]["text"] == "mine"
    assert changed["message"]["edited"]["user"] == "U0BROOK001"


async def frames(slack: SlackEmulator, *, ack: bool, count: int) -> list[dict[str, Any]]:
    """Read envelopes as a client of its own, which acknowledges only the last one or none."""
    client = web_client(slack)
    address = (await client.apps_connections_open(app_token=APP_TOKEN))["url"]
    found: list[dict[str, Any]] = []
    async with aiohttp.ClientSession() as session, session.ws_connect(address) as ws:
        assert (await ws.receive_json())["type"] == "hello"
        while len(found) < count:
            found.append(await ws.receive_json(timeout=5))
        if ack:
            await ws.send_json({"envelope_id": found[-1]["envelope_id"]})
            await slack.wait_until_acked()
    return found


async def test_what_is_not_acknowledged_comes_again(slack: SlackEmulator) -> None:
    slack.delivery.ack_seconds = 0.05
    reading = asyncio.create_task(frames(slack, ack=True, count=3))
    await slack.wait_for_sockets()
    slack.say("hello")
    found = await reading
    assert [frame["retry_attempt"] for frame in found] == [0, 1, 2]
    assert [frame["retry_reason"] for frame in found] == ["", "timeout", "timeout"]
    assert len({frame["envelope_id"] for frame in found}) == 3
    assert len({frame["payload"]["event_id"] for frame in found}) == 1
    assert [attempt.acked for attempt in slack.delivery.attempts] == [False, False, True]


async def test_after_four_tries_it_is_given_up(slack: SlackEmulator) -> None:
    slack.delivery.ack_seconds = 0.01
    slack.say("hello")
    await slack.wait_until_acked()
    assert [attempt.acked for attempt in slack.delivery.attempts] == [False] * 4


async def test_a_ticket_opens_one_socket(slack: SlackEmulator) -> None:
    client = web_client(slack)
    address = (await client.apps_connections_open(app_token=APP_TOKEN))["url"]
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(address):
            with pytest.raises(aiohttp.WSServerHandshakeError) as again:
                await session.ws_connect(address)
        slack.sockets.dead_tickets = 1
        dead = (await client.apps_connections_open(app_token=APP_TOKEN))["url"]
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await session.ws_connect(dead)
    assert again.value.status == caught.value.status == 404


async def test_events_go_to_any_one_of_several_sockets(slack: SlackEmulator) -> None:
    heard: list[dict[str, Any]] = []
    app = bolt(slack, heard)
    async with socket_mode(slack, app), socket_mode(slack, app):
        await slack.wait_for_sockets(2)
        for number in range(6):
            slack.say(str(number))
        await slack.wait_until_acked()
        await slack.until(lambda: len(heard) == 6, 5)
    assert sorted(event["text"] for event in heard) == list("012345")


async def test_farewells_and_breaks(slack: SlackEmulator) -> None:
    heard: list[dict[str, Any]] = []
    async with socket_mode(slack, bolt(slack, heard)):
        await slack.sockets.disconnect()
        assert await slack.until(lambda: slack.sockets.opened == 2, 5)
        slack.sockets.abort()
        assert await slack.until(lambda: slack.sockets.opened == 3, 5)
        slack.say("hello")
        await slack.wait_until_acked()


@asynccontextmanager
async def posted_to(slack: SlackEmulator, app: Any) -> AsyncIterator[list[web.Request]]:
    """Serve a Bolt app over HTTP and have the emulator post there."""
    requests: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        requests.append(request)
        return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))

    server = web.Application()
    server.router.add_post("/slack/events", answer)
    runner = web.AppRunner(server)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    slack.events_url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    try:
        yield requests
    finally:
        await runner.cleanup()


async def test_signed_posts_are_believed(slack: SlackEmulator) -> None:
    heard: list[dict[str, Any]] = []
    async with posted_to(slack, bolt(slack, heard)) as requests:
        slack.say("hello")
        await slack.wait_until_acked()
        assert await slack.until(lambda: bool(heard), 5)
    assert [event["text"] for event in heard] == ["hello"]
    assert "X-Slack-Retry-Num" not in requests[0].headers


async def test_refused_posts_come_again(slack: SlackEmulator) -> None:
    slack.delivery.signing_secret = "another"
    async with posted_to(slack, bolt(slack, [])) as requests:
        slack.say("hello")
        await slack.wait_until_acked()
    numbers = [request.headers.get("X-Slack-Retry-Num") for request in requests]
    assert numbers == [None, "1", "2", "3"]
    assert not any(attempt.acked for attempt in slack.delivery.attempts)
