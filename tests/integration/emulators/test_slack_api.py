"""The emulated Web API as the unmodified slack-sdk sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from tests.emulators.slack import APP_TOKEN, CHANNEL, TEAM, TOKEN, USER
from tests.integration.emulators.slack_app import slack_with_a_bot, web_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from slack_sdk.web.async_client import AsyncWebClient

    from tests.emulators.slack import SlackEmulator

DM = "D0MIRA0001"


@pytest.fixture
async def slack() -> AsyncIterator[SlackEmulator]:
    async with slack_with_a_bot() as emulator:
        emulator.delivery.retry_seconds = ()
        emulator.delivery.ack_seconds = 0.01
        emulator.channel(CHANNEL)
        yield emulator


@pytest.fixture
def client(slack: SlackEmulator) -> AsyncWebClient:
    return web_client(slack)


async def refusal(call: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])


async def test_tokens(slack: SlackEmulator, client: AsyncWebClient) -> None:
    me = await client.auth_test()
    assert (me["team_id"], me["user_id"], me["bot_id"]) == (TEAM, "U0BROOK001", "B0BROOK001")
    assert await refusal(web_client(slack, "xoxb-9-9-unknown").auth_test()) == "invalid_auth"
    assert await refusal(web_client(slack, "").auth_test()) == "not_authed"
    assert await refusal(client.apps_connections_open(app_token=TOKEN)) == "invalid_auth"
    opened = await client.apps_connections_open(app_token=APP_TOKEN)
    assert str(opened["url"]).startswith("ws://127.0.0.1:")
    slack.revoke()
    assert await refusal(client.auth_test()) == "token_revoked"


async def test_posting_editing_deleting(slack: SlackEmulator, client: AsyncWebClient) -> None:
    root = slack.say("question", channel=CHANNEL)
    metadata = {"event_type": "x", "event_payload": {"key": "1"}}
    posted = await client.chat_postMessage(
        channel=CHANNEL, text="answer", thread_ts=root, metadata=metadata
    )
    await client.chat_update(channel=CHANNEL, ts=posted["ts"], text="better")
    [message] = slack.answers(CHANNEL)
    assert (message["text"], message["thread_ts"]) == ("better", root)
    assert message["metadata"] == metadata
    await client.chat_delete(channel=CHANNEL, ts=posted["ts"])
    assert slack.answers(CHANNEL) == []


@pytest.mark.parametrize(
    ("method", "fields", "code"),
    [
        ("chat.postMessage", {"channel": "C0NOWHERE1", "text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": CHANNEL, "text": " "}, "no_text"),
        ("chat.postMessage", {"channel": CHANNEL, "text": "x", "thread_ts": "1.000001"},
         "thread_not_found"),
        ("chat.update", {"channel": CHANNEL, "ts": "1.000001", "text": "x"}, "message_not_found"),
        ("chat.update", {"channel": CHANNEL, "ts": "1.000001", "text": "é" * 2001},
         "msg_too_long"),
        ("conversations.replies", {"channel": CHANNEL, "ts": "1.000001"}, "thread_not_found"),
        ("assistant.threads.setStatus", {"channel_id": CHANNEL, "status": "x"},
         "invalid_arguments"),
        ("users.info", {"user": "U0NOBODY01"}, "user_not_found"),
        ("no.such", {}, "unknown_method"),
    ],
)  # fmt: skip
async def test_refusals(
    client: AsyncWebClient, method: str, fields: dict[str, str], code: str
) -> None:
    assert await refusal(client.api_call(method, json=fields)) == code


async def test_foreign_messages_cannot_be_changed(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    ts = slack.say("mine", channel=CHANNEL)
    changed = client.chat_update(channel=CHANNEL, ts=ts, text="x")
    assert await refusal(changed) == "cant_update_message"


async def test_places_close(slack: SlackEmulator, client: AsyncWebClient) -> None:
    slack.remove_bot(CHANNEL)
    assert await refusal(client.chat_postMessage(channel=CHANNEL, text="x")) == "not_in_channel"
    slack.archive(CHANNEL)
    assert await refusal(client.chat_postMessage(channel=CHANNEL, text="x")) == "is_archived"


async def test_long_texts_are_cut_without_an_error(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    posted = await client.chat_postMessage(channel=CHANNEL, text="x" * 40_001)
    assert posted["warning"] == "message_truncated"
    assert len(slack.answers(CHANNEL)[0]["text"]) == 40_000


async def test_history_and_threads(slack: SlackEmulator, client: AsyncWebClient) -> None:
    first, second = slack.say("1", channel=CHANNEL), slack.say("2", channel=CHANNEL)
    reply = slack.thread("in thread", first)
    shown = slack.thread("also here", first, subtype="thread_broadcast")
    history = await client.conversations_history(channel=CHANNEL, limit=2)
    assert [message["ts"] for message in history["messages"]] == [shown, second]
    cursor = history["response_metadata"]["next_cursor"]
    rest = await client.conversations_history(channel=CHANNEL, limit=2, cursor=cursor)
    assert [message["ts"] for message in rest["messages"]] == [first]
    assert rest["messages"][0]["latest_reply"] == shown
    since = await client.conversations_history(channel=CHANNEL, oldest=first)
    assert [message["ts"] for message in since["messages"]] == [shown, second]
    thread = await client.conversations_replies(channel=CHANNEL, ts=first, oldest=reply)
    assert [message["ts"] for message in thread["messages"]] == [first, shown]


async def test_metadata_comes_only_when_asked_for(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    metadata = {"event_type": "x", "event_payload": {"key": "1"}}
    await client.chat_postMessage(channel=CHANNEL, text="x", metadata=metadata)
    plain = await client.conversations_history(channel=CHANNEL)
    whole = await client.conversations_history(channel=CHANNEL, include_all_metadata=True)
    assert "metadata" not in plain["messages"][0]
    assert whole["messages"][0]["metadata"] == metadata


async def test_people_and_places(slack: SlackEmulator, client: AsyncWebClient) -> None:
    slack.user(USER, locale="ru-RU")
    slack.channel("G0PRIVATE1", kind="group")
    user = (await client.users_info(user=USER))["user"]
    assert (user["locale"], user["is_bot"]) == ("ru-RU", False)
    opened = (await client.conversations_open(users=[USER]))["channel"]
    assert (opened["id"], opened["is_im"]) == (DM, True)
    listed = await client.users_conversations(types="private_channel,im")
    assert [channel["id"] for channel in listed["channels"]] == ["G0PRIVATE1", DM]
    info = await client.conversations_info(channel="G0PRIVATE1")
    assert info["channel"]["is_private"]


async def test_status_ends_with_the_next_message(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    root = slack.say("question", channel=CHANNEL)
    await client.assistant_threads_setStatus(channel_id=CHANNEL, thread_ts=root, status="thinks")
    assert slack.status(CHANNEL, root) == "thinks"
    await client.chat_postMessage(channel=CHANNEL, text="x", thread_ts=root)
    assert slack.status(CHANNEL, root) == ""


async def test_streaming(slack: SlackEmulator, client: AsyncWebClient) -> None:
    root = slack.say("question", channel=CHANNEL)
    stream = await client.chat_stream(
        channel=CHANNEL,
        thread_ts=root,
        recipient_team_id=TEAM,
        recipient_user_id=USER,
        buffer_size=4,
    )
    await stream.append(markdown_text="one, ")
    await stream.append(markdown_text="two, ")
    await stream.stop(markdown_text="three")
    assert slack.answers(CHANNEL)[0]["text"] == "one, two, three"


async def test_reactions(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ts = slack.say("x", channel=CHANNEL)
    await client.reactions_add(channel=CHANNEL, timestamp=ts, name="thumbsup")
    wrong = client.reactions_add(channel=CHANNEL, timestamp="1.1", name="thumbsup")
    assert await refusal(wrong) == "message_not_found"


async def test_files_go_up_and_come_down(slack: SlackEmulator, client: AsyncWebClient) -> None:
    sent = await client.files_upload_v2(content="hello", filename="a.txt")
    url = sent["files"][0]["url_private_download"]
    async with aiohttp.ClientSession() as session:
        async with session.get(url) as stranger:
            assert (stranger.status, stranger.content_type) == (200, "text/html")
        async with session.get(url, headers={"Authorization": f"Bearer {TOKEN}"}) as ours:
            assert await ours.read() == b"hello"


async def test_a_shared_file_is_an_event(slack: SlackEmulator) -> None:
    slack.share_file(
        b"png", name="a.png", mime="image/png", address=slack.address, text="<@U0BROOK001> look",
        channel=CHANNEL,
    )  # fmt: skip
    [told] = [attempt.payload["event"] for attempt in await started(slack, 1)]
    assert (told["subtype"], told["files"][0]["mimetype"]) == ("file_share", "image/png")


async def started(slack: SlackEmulator, count: int) -> list[Any]:
    """Wait until that many deliveries were tried."""
    assert await slack.until(lambda: len(slack.delivery.attempts) >= count, 5)
    return slack.delivery.attempts


# --- faults ----------------------------------------------------------------------------------


async def test_a_lost_answer_did_the_work(slack: SlackEmulator, client: AsyncWebClient) -> None:
    slack.lose("chat.postMessage")
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await client.chat_postMessage(channel=CHANNEL, text="x")
    assert len(slack.answers(CHANNEL)) == 1


async def test_a_dropped_call_did_not(slack: SlackEmulator, client: AsyncWebClient) -> None:
    slack.drop("chat.postMessage")
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await client.chat_postMessage(channel=CHANNEL, text="x")
    assert slack.answers(CHANNEL) == []


async def test_rate_limits(slack: SlackEmulator, client: AsyncWebClient) -> None:
    slack.rate_limit("chat.postMessage", 30, channel=CHANNEL)
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=CHANNEL, text="x")
    response = caught.value.response
    assert (response["error"], response.status_code) == ("ratelimited", 429)
    assert response.headers["Retry-After"] == "30"


@pytest.mark.parametrize("status", [200, 502])
async def test_pages_instead_of_answers(
    slack: SlackEmulator, client: AsyncWebClient, status: int
) -> None:
    slack.malformed("auth.test", status=status)
    with pytest.raises(SlackApiError) as caught:
        await client.auth_test()
    assert caught.value.response.status_code == status
    await client.auth_test()


async def test_a_cut_answer(slack: SlackEmulator, client: AsyncWebClient) -> None:
    slack.truncate("chat.postMessage")
    with pytest.raises(SlackApiError):
        await client.chat_postMessage(channel=CHANNEL, text="x")
    assert len(slack.answers(CHANNEL)) == 1


async def test_a_planned_refusal(slack: SlackEmulator, client: AsyncWebClient) -> None:
    slack.fail("chat.postMessage", "fatal_error")
    assert await refusal(client.chat_postMessage(channel=CHANNEL, text="x")) == "fatal_error"
    assert slack.calls_of("chat.postMessage")[0].error == "fatal_error"
