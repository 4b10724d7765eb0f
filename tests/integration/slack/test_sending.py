"""Sending: each part once, whatever becomes of the answer, and nobody is ever pinged."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from adapters.slack.preview import INTERVAL
from adapters.slack.render import size
from gateway.model.errors import (
    AmbiguousSendError,
    CredentialsError,
    Disposition,
    PlatformError,
    RateLimitedError,
    UnreachableError,
)
from gateway.model.ids import MessageId, TurnId
from gateway.model.outbound import RichText, Span, SpanKind
from gateway.ports import ConnectionState
from gateway.text.markup import parse
from gateway.text.split import split
from tests.emulators.slack import CHANNEL, TOKEN
from tests.integration.slack.support import (
    DM,
    HurriedClock,
    MemoryIntake,
    address,
    opened,
    part,
    pings,
    running,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.slack import SlackEmulator

TURN = TurnId("t_1")


@pytest.fixture(autouse=True)
def direct_message(slack: SlackEmulator) -> None:
    slack.channel(DM, kind="im")


async def test_a_part_is_posted(slack: SlackEmulator) -> None:
    root = slack.say("question", channel=CHANNEL)
    content = RichText("bold & <plain>", (Span(SpanKind.BOLD, 0, 4),))
    async with opened(slack) as adapter:
        receipt = await adapter.send(part(content, CHANNEL, thread=root, key="p_7"))
    [posted] = slack.answers(CHANNEL)
    assert (posted["ts"], posted["thread_ts"]) == (receipt.message, root)
    assert posted["text"] == "*bold* &amp; &lt;plain&gt;"
    assert posted["metadata"]["event_payload"] == {"key": "p_7"}
    [call] = slack.calls_of("chat.postMessage")
    assert not call.args["unfurl_links"]
    assert not call.args["unfurl_media"]


async def test_nobody_is_pinged(slack: SlackEmulator) -> None:
    """H-32."""
    said = "<!channel> done <!here> <@U0MIRA0001> `<!everyone>` [<@U1>](https://e.org/<@U2>)"
    async with opened(slack) as adapter:
        for piece in split(parse(said), limit=3800, size=size):
            await adapter.send(part(piece))
    [posted] = slack.answers(DM)
    assert not pings(posted["text"])
    assert "&lt;!channel&gt; done &lt;!here&gt; &lt;@U0MIRA0001&gt;" in posted["text"]


@pytest.mark.parametrize(
    "document",
    ["😀" * 5000, "```py\n" + "\n".join(f"a < {n} && b" for n in range(400)) + "\n```"],
    ids=["emoji", "fence"],
)
async def test_long_answers_come_whole_in_parts_that_may_be_edited(
    slack: SlackEmulator, document: str
) -> None:
    rich = parse(document)
    pieces = split(rich, limit=3800, size=size)
    async with opened(slack) as adapter:
        for number, piece in enumerate(pieces):
            await adapter.send(part(piece, key=f"p_{number}"))
    posted = [message["text"] for message in slack.answers(DM)]
    assert len(posted) == len(pieces) > 1
    assert all(len(text.encode()) <= 3800 for text in posted)
    assert all(text.count("```") % 2 == 0 for text in posted)
    assert sum(text.count("😀") for text in posted) == document.count("😀")
    assert sum(text.count("&lt;") for text in posted) == document.count("<")


# --- outcomes that are open ----------------------------------------------------------------------


def lose(slack: SlackEmulator) -> None:
    slack.lose("chat.postMessage")


def truncate(slack: SlackEmulator) -> None:
    slack.truncate("chat.postMessage")


@pytest.mark.parametrize("trouble", [lose, truncate])
@pytest.mark.parametrize("threaded", [False, True])
async def test_a_lost_answer_is_looked_up(
    slack: SlackEmulator, trouble: Callable[[SlackEmulator], None], threaded: bool
) -> None:
    thread = slack.say("question", channel=CHANNEL) if threaded else None
    wanted = part("the answer", CHANNEL if threaded else DM, thread=thread)
    trouble(slack)
    async with opened(slack) as adapter:
        with pytest.raises(AmbiguousSendError):
            await adapter.send(wanted)
        found = await adapter.look_up(wanted)
    [posted] = slack.answers(wanted.address.place)
    assert found is not None
    assert (found.message, found.degraded) == (posted["ts"], ())
    assert len(slack.calls_of("chat.postMessage")) == 1


async def test_what_never_arrived_is_not_found(slack: SlackEmulator) -> None:
    async with opened(slack) as adapter:
        await adapter.send(part("another", key="p_2"))
        slack.drop("chat.postMessage")
        with pytest.raises(AmbiguousSendError):
            await adapter.send(part("the answer"))
        assert await adapter.look_up(part("the answer")) is None
        assert await adapter.look_up(part("the answer", thread="1700000000.000001")) is None


async def test_a_part_that_lost_its_thread_is_found_outside(slack: SlackEmulator) -> None:
    async with opened(slack) as adapter:
        sent = await adapter.send(part("the answer", thread="1700000000.000001"))
        found = await adapter.look_up(part("the answer", thread="1700000000.000001"))
    assert sent.degraded == ("no-thread",)
    assert found == sent


async def test_a_server_that_is_down_was_never_reached(slack: SlackEmulator) -> None:
    await slack.stop()
    async with opened(slack) as adapter:
        with pytest.raises(PlatformError) as caught:
            await adapter.send(part("hello"))
    assert caught.value.disposition is Disposition.RETRY


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code", ["channel_not_found", "is_archived", "not_in_channel", "account_inactive"]
)
async def test_who_cannot_be_written_to(slack: SlackEmulator, code: str) -> None:
    """H-35: no retry, and others are served."""
    slack.fail("chat.postMessage", code)
    async with opened(slack) as adapter:
        with pytest.raises(UnreachableError):
            await adapter.send(part("hello", CHANNEL))
        await adapter.send(part("hello"))
    assert len(slack.answers(DM)) == 1


async def test_places_really_gone(slack: SlackEmulator) -> None:
    slack.say("hi", channel=CHANNEL)
    slack.archive(CHANNEL)
    async with opened(slack) as adapter:
        for channel in (CHANNEL, "C0UNKNOWN1"):
            with pytest.raises(UnreachableError):
                await adapter.send(part("hello", channel))


async def test_a_rate_limit_holds_one_channel(slack: SlackEmulator) -> None:
    """H-34."""
    slack.rate_limit("chat.postMessage", 7, channel=DM)
    slack.say("hi", channel=CHANNEL)
    async with opened(slack) as adapter:
        with pytest.raises(RateLimitedError) as caught:
            await adapter.send(part("hello"))
        await adapter.send(part("hello", CHANNEL))
    assert (caught.value.retry_after, caught.value.whole_account) == (7.0, False)


async def test_a_deleted_root_costs_only_the_thread(slack: SlackEmulator) -> None:
    """H-36: all five parts arrive once."""
    root = slack.say("question", channel=CHANNEL)
    slack.delete(CHANNEL, root)
    async with opened(slack) as adapter:
        receipts = [
            await adapter.send(part(str(number), CHANNEL, thread=root, key=f"p_{number}"))
            for number in range(5)
        ]
    assert [message["text"] for message in slack.answers(CHANNEL)] == list("01234")
    assert {receipt.degraded for receipt in receipts} == {("no-thread",)}


async def test_a_revoked_token_ends_in_a_clear_status(
    slack: SlackEmulator, intake: MemoryIntake, clock: HurriedClock
) -> None:
    async with running(slack, intake, clock) as adapter:
        slack.revoke(TOKEN)
        with pytest.raises(CredentialsError):
            await adapter.send(part("hello"))
        await until(lambda: adapter.status.state is ConnectionState.BAD_CREDENTIALS)
        assert "token_revoked" in adapter.status.detail


# --- signs of life -------------------------------------------------------------------------------


async def test_typing_shows_in_threads_only(slack: SlackEmulator) -> None:
    root = slack.say("question", channel=CHANNEL)
    async with opened(slack) as adapter:
        await adapter.typing(address())
        assert slack.calls == []
        await adapter.typing(address(CHANNEL, root))
        assert slack.status(CHANNEL, root) == "is typing…"
        await adapter.send(part("answer", CHANNEL, thread=root))
    assert slack.status(CHANNEL, root) == ""


async def test_a_preview_becomes_the_answer(slack: SlackEmulator, clock: HurriedClock) -> None:
    root = slack.say("question", channel=CHANNEL)
    async with opened(slack, clock) as adapter:
        preview = adapter.preview(address(CHANNEL, root), TURN, MessageId(root))
        assert preview is not None
        preview.update("The ans")
        await slack.wait_for(1, channel=CHANNEL)
        preview.update("The **answer**")
        await slack.wait_for(lambda a: a[0]["text"] == "The *answer*", channel=CHANNEL)
        await preview.close()
        [shown] = slack.answers(CHANNEL)
        first = part("The answer.", CHANNEL, thread=root, key="p_1", turn=TURN)
        second = part("More.", CHANNEL, thread=root, key="p_2", turn=TURN)
        receipt = await adapter.send(first)
        assert await adapter.look_up(first) == receipt
        await adapter.send(second)
    assert receipt.message == shown["ts"]
    assert [message["text"] for message in slack.answers(CHANNEL)] == ["The answer.", "More."]
    assert slack.answers(CHANNEL)[0]["metadata"]["event_payload"] == {"key": "p_1"}
    assert clock.slept == [pytest.approx(INTERVAL, abs=0.2)] * len(clock.slept)


async def test_a_short_answer_has_no_preview(slack: SlackEmulator) -> None:
    class Patient(HurriedClock):
        async def sleep(self, seconds: float) -> None:
            await asyncio.Event().wait()

    async with opened(slack, Patient()) as adapter:
        preview = adapter.preview(address(), TURN, MessageId("1"))
        assert preview is not None
        preview.update("ok")
        await preview.close()
        await adapter.send(part("ok", turn=TURN))
    assert [call.method for call in slack.calls] == ["chat.postMessage"]


async def test_a_rate_limit_stops_the_preview_until_its_end(
    slack: SlackEmulator, clock: HurriedClock
) -> None:
    async with opened(slack, clock) as adapter:
        preview = adapter.preview(address(), TURN, MessageId("1"))
        assert preview is not None
        preview.update("one")
        await slack.wait_for(1)
        slack.rate_limit("chat.update", 2)
        preview.update("one two")
        await slack.wait_for(lambda answers: answers[0]["text"] == "one two")
        await preview.close()
        await adapter.send(part("one two three", turn=TURN))
    assert pytest.approx(2.0, abs=0.2) in clock.slept
    assert [message["text"] for message in slack.answers(DM)] == ["one two three"]


async def test_a_preview_whose_post_was_lost_is_found_and_finished(
    slack: SlackEmulator, clock: HurriedClock
) -> None:
    slack.lose("chat.postMessage")
    async with opened(slack, clock) as adapter:
        preview = adapter.preview(address(), TURN, MessageId("1"))
        assert preview is not None
        preview.update("The ans")
        await slack.wait_for(1)
        await until(lambda: clock.slept and len(slack.calls) == 1)
        await preview.close()
        await adapter.send(part("The answer", turn=TURN))
    assert [message["text"] for message in slack.answers(DM)] == ["The answer"]


@pytest.mark.parametrize("code", ["edit_window_closed", "cant_update_message", "msg_too_long"])
async def test_a_preview_that_cannot_be_finished_gives_way(
    slack: SlackEmulator, clock: HurriedClock, code: str
) -> None:
    async with opened(slack, clock) as adapter:
        preview = adapter.preview(address(), TURN, MessageId("1"))
        assert preview is not None
        preview.update("The ans")
        await slack.wait_for(1)
        await preview.close()
        slack.fail("chat.update", code)
        await adapter.send(part("The answer", turn=TURN))
    texts = [message["text"] for message in slack.answers(DM)]
    assert texts[-1] == "The answer"
    assert texts.count("The answer") == 1


async def test_a_lost_finishing_edit_is_found_by_its_key(
    slack: SlackEmulator, clock: HurriedClock
) -> None:
    """By the same process and by the next one, which knows of no preview."""
    async with opened(slack, clock) as adapter:
        preview = adapter.preview(address(), TURN, MessageId("1"))
        assert preview is not None
        preview.update("The ans")
        await slack.wait_for(1)
        await preview.close()
        slack.lose("chat.update")
        with pytest.raises(AmbiguousSendError):
            await adapter.send(part("The answer", turn=TURN))
        found = await adapter.look_up(part("The answer", turn=TURN))
    async with opened(slack, clock) as adapter:
        assert await adapter.look_up(part("The answer", turn=TURN)) == found
    assert found is not None
    assert [message["text"] for message in slack.answers(DM)] == ["The answer"]


async def test_after_its_end_a_preview_calls_nobody(
    slack: SlackEmulator, clock: HurriedClock
) -> None:
    """H-56."""
    async with opened(slack, clock) as adapter:
        preview = adapter.preview(address(), TURN, MessageId("1"))
        assert preview is not None
        preview.update("one")
        await slack.wait_for(1)
        await preview.close()
        calls = len(slack.calls)
        preview.update("one two")
        await asyncio.sleep(0.05)
    assert len(slack.calls) == calls
