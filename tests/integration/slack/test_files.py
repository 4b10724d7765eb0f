"""Fetching files from the emulated Slack."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest

from gateway.model.errors import Disposition, PlatformError, RateLimitedError
from gateway.model.events import Attachment, AttachmentKind
from tests.emulators.slack import TOKEN
from tests.integration.slack.support import DM, MemoryIntake, opened, running, until

if TYPE_CHECKING:
    from adapters.slack.adapter import SlackAdapter
    from tests.emulators.slack import SlackEmulator


async def content(adapter: SlackAdapter, ref: str) -> bytes:
    attachment = Attachment(AttachmentKind.DOCUMENT, ref)
    async with aclosing(adapter.download(attachment)) as pieces:
        return b"".join([piece async for piece in pieces])


def shared(
    slack: SlackEmulator, body: bytes = b"text", mime: str = "text/plain"
) -> dict[str, Any]:
    """Share a file and return what Slack knows of it, which a test may change."""
    ts = slack.share_file(body, name="a.txt", mime=mime, address=slack.address, channel=DM)
    message = next(each for each in slack.messages(DM) if each["ts"] == ts)
    facts: dict[str, Any] = message["files"][0]
    return facts


async def test_a_file_is_fetched_by_its_id_with_the_token(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    async with running(slack, intake) as adapter:
        shared(slack)
        await until(lambda: intake.events)
        [attachment] = intake.events[0].attachments
        assert await content(adapter, attachment.ref) == b"text"
    [download] = slack.calls_of("download")
    assert download.token == TOKEN


async def test_a_file_that_was_only_hinted_at_is_fetched(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    """Beyond a free plan's limit, and from other companies, Slack tells nothing but the id."""
    facts = shared(slack)
    async with running(slack, intake) as adapter:
        hint = {"id": facts["id"], "file_access": "check_file_info"}
        slack.say(channel=DM, subtype="file_share", files=[hint])
        await until(lambda: len(intake.events) == 2)
        [attachment] = intake.events[-1].attachments
        assert attachment.kind is AttachmentKind.OTHER
        assert await content(adapter, attachment.ref) == b"text"


async def test_a_page_to_sign_in_is_no_file(slack: SlackEmulator) -> None:
    facts = shared(slack)
    facts["url_private_download"] = f"{slack.address}/files-pri/F0NOBODY/a.txt"
    async with opened(slack) as adapter:
        with pytest.raises(PlatformError, match="files:read") as caught:
            await content(adapter, facts["id"])
    assert caught.value.disposition is Disposition.GIVE_UP


async def test_a_document_may_be_a_page(slack: SlackEmulator) -> None:
    facts = shared(slack, b"<p>mine</p>", "text/html")
    async with opened(slack) as adapter:
        assert await content(adapter, facts["id"]) == b"<p>mine</p>"


async def test_the_token_goes_to_nobody_but_slack(slack: SlackEmulator) -> None:
    facts = shared(slack)
    for host in ("localhost", "slack.com.evil.example", "evilslack.com"):
        facts["url_private_download"] = f"http://{host}:1/a.txt"
        async with opened(slack) as adapter:
            with pytest.raises(PlatformError) as caught:
                await content(adapter, facts["id"])
        assert caught.value.code == "gone"
    assert slack.calls_of("download") == []


async def test_a_deleted_file_is_gone(slack: SlackEmulator) -> None:
    async with opened(slack) as adapter:
        with pytest.raises(PlatformError) as caught:
            await content(adapter, "F0NOBODY")
    assert (caught.value.code, caught.value.disposition) == ("gone", Disposition.GIVE_UP)


async def test_a_limit_is_told(slack: SlackEmulator) -> None:
    facts = shared(slack)
    slack.rate_limit("files.info", 3)
    async with opened(slack) as adapter:
        with pytest.raises(RateLimitedError) as caught:
            await content(adapter, facts["id"])
    assert caught.value.retry_after == 3
