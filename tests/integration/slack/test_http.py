"""HTTP events: only what Slack signed lately is taken in, and 200 means stored."""

from __future__ import annotations

import json
import socket
import time
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from adapters.slack.http import PATH
from adapters.slack.manifest import HttpSettings
from gateway.model.choice import Choice, Option, Pressed
from gateway.model.errors import StoreBusyError
from gateway.model.events import EventKind
from gateway.model.outbound import Part, RichText
from gateway.ports import ConnectionState
from tests.emulators.slack.world import TEAM, USER
from tests.integration.slack.support import HurriedClock, MemoryIntake, address, running, until

if TYPE_CHECKING:
    from tests.emulators.slack import SlackEmulator


@pytest.fixture
def port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def http(port: int) -> dict[str, Any]:
    return {"mode": "http", "http": HttpSettings(port=port)}


async def post(port: int, body: str, headers: dict[str, str]) -> tuple[int, str]:
    url = f"http://127.0.0.1:{port}{PATH}"
    headers = {"Content-Type": "application/json", **headers}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, headers=headers) as answer,
    ):
        return answer.status, await answer.text()


async def test_events_are_taken_in(slack: SlackEmulator, intake: MemoryIntake, port: int) -> None:
    slack.events_url = f"http://127.0.0.1:{port}{PATH}"
    async with running(slack, intake, **http(port)) as adapter:
        await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
        slack.mention("deploy")
        await slack.wait_until_acked()
    assert [(event.text, event.mentions_bot) for event in intake.events] == [("deploy", True)]
    assert slack.sockets.opened == 0


async def test_a_pressed_button_is_taken_in(
    slack: SlackEmulator, intake: MemoryIntake, port: int
) -> None:
    """Slack posts it as a form; the address by which anybody could answer for us is not kept."""
    slack.events_url = f"http://127.0.0.1:{port}{PATH}"
    choice = Choice("Zm9vYmFyYmF6", (Option("yes", "Yes"), Option("no", "No")))
    async with running(slack, intake, **http(port)) as adapter:
        await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
        slack.say("hello")
        await slack.wait_until_acked()
        where = address(f"D{USER[1:]}")
        receipt = await adapter.send(Part("q_1", where, RichText("Shall I?"), choice=choice))
        slack.click("No")
        await slack.wait_until_acked()
    [pressed] = [event for event in intake.events if event.kind is EventKind.PRESS]
    assert pressed.pressed == Pressed(choice.id, "no", receipt.message)
    assert (pressed.sender.scope, pressed.sender.id) == (TEAM, USER)
    assert b"response_url" not in b"".join(each.raw for each in intake.received)


async def test_200_means_stored(slack: SlackEmulator, intake: MemoryIntake, port: int) -> None:
    slack.events_url = f"http://127.0.0.1:{port}{PATH}"
    intake.refusals.append(StoreBusyError("busy"))
    async with running(slack, intake, **http(port)) as adapter:
        await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
        slack.say("hello")
        await slack.wait_until_acked()
    assert [attempt.acked for attempt in slack.delivery.attempts] == [False, True]
    assert intake.texts == ["hello"]


async def test_only_slack_is_believed(
    slack: SlackEmulator, intake: MemoryIntake, port: int
) -> None:
    body = json.dumps({"type": "event_callback", "team_id": "T0ALPHA001", "event": {}})
    signed = slack.delivery.signed(body)
    forged = {**signed, "X-Slack-Signature": "v0=" + "0" * 64}
    old = slack.delivery.signed(body, at=int(time.time()) - 600)
    odd = {**signed, "X-Slack-Request-Timestamp": "yesterday"}
    async with running(slack, intake, **http(port)) as adapter:
        await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
        for headers in ({}, forged, old, odd):
            assert (await post(port, body, headers))[0] == 401
        assert (await post(port, "no json", slack.delivery.signed("no json")))[0] == 400
        bogus = {**signed, "Content-Type": "application/json; charset=bogus"}
        assert (await post(port, body, bogus))[0] == 400
        assert intake.received == []
        assert (await post(port, body, signed))[0] == 200
    assert [each.event for each in intake.received] == [None]


async def test_the_address_is_verified(
    slack: SlackEmulator, intake: MemoryIntake, port: int
) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "3eZbrw1aB"})
    async with running(slack, intake, **http(port)) as adapter:
        await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
        status, answer = await post(port, body, slack.delivery.signed(body))
    assert (status, json.loads(answer)) == (200, {"challenge": "3eZbrw1aB"})


async def test_a_port_in_use_is_said(
    slack: SlackEmulator, intake: MemoryIntake, clock: HurriedClock
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        used = int(taken.getsockname()[1])
        async with running(slack, intake, clock, **http(used)):
            await until(lambda: clock.seen)
    assert str(used) in clock.seen[0].detail
    assert "platforms.slack.http.port" in clock.seen[0].detail
