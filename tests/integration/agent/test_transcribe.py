"""Recordings before a real transcription endpoint on loopback."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from gateway.agent.transcribe import SpeechEndpoint
from gateway.model.errors import AgentError, Disposition
from gateway.settings.schema import TranscribeSettings
from tests.emulators.speech import SpeechStub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

KEY = "sk-invented-for-tests"


@pytest.fixture
async def speech() -> AsyncIterator[SpeechStub]:
    async with SpeechStub() as stub:
        yield stub


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "r"
    path.write_bytes(b"OggS")
    return path


async def heard(speech: SpeechStub, recording: Path, mime: str = "", key: str = KEY) -> str:
    settings = TranscribeSettings(base_url=f"{speech.base_url}/", model="ear")
    async with aclosing(SpeechEndpoint(settings, key)) as endpoint:
        return await endpoint.transcribe(recording, mime)


@pytest.mark.parametrize(
    ("mime", "name"),
    [
        ("audio/ogg", "recording.ogg"),
        ("audio/mpeg", "recording.mp3"),
        ("audio/mp4", "recording.m4a"),
        ("", "recording.ogg"),
        ("audio/odd", "recording.ogg"),
    ],
)
async def test_the_format_is_told_by_the_name(
    speech: SpeechStub, recording: Path, mime: str, name: str
) -> None:
    assert await heard(speech, recording, mime) == "hello"
    [got] = speech.heard
    assert (got.name, got.content, got.model, got.key) == (name, b"OggS", "ear", KEY)


async def test_no_key_is_no_header(speech: SpeechStub, recording: Path) -> None:
    await heard(speech, recording, key="")
    assert [each.key for each in speech.heard] == [""]


@pytest.mark.parametrize(
    ("status", "body", "disposition"),
    [
        (400, "{}", Disposition.GIVE_UP),
        (401, f'{{"error": "{KEY} is wrong"}}', Disposition.GIVE_UP),
        (404, "{}", Disposition.GIVE_UP),
        (429, "{}", Disposition.RETRY),
        (500, "<html>", Disposition.RETRY),
        (200, "<html>", Disposition.GIVE_UP),
        (200, '{"text": null}', Disposition.GIVE_UP),
        (200, "[]", Disposition.GIVE_UP),
    ],
)
async def test_refusals_are_judged_and_repeat_no_secret(
    speech: SpeechStub, recording: Path, status: int, body: str, disposition: Disposition
) -> None:
    speech.fail(status, body)
    with pytest.raises(AgentError) as caught:
        await heard(speech, recording)
    assert caught.value.disposition is disposition
    assert KEY not in str(caught.value)


async def test_a_wait_that_is_asked_for_is_told(speech: SpeechStub, recording: Path) -> None:
    speech.faults.append((429, "{}", {"Retry-After": "7"}))
    with pytest.raises(AgentError) as caught:
        await heard(speech, recording)
    assert caught.value.retry_after == 7


async def test_an_endpoint_that_is_away_may_come_back(speech: SpeechStub, recording: Path) -> None:
    await speech.stop()
    with pytest.raises(AgentError) as caught:
        await heard(speech, recording)
    assert caught.value.disposition is Disposition.RETRY
