"""Recordings written down by an OpenAI-compatible endpoint (``voice.transcribe``)."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from gateway.model.errors import AgentError, Disposition

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.settings.schema import TranscribeSettings

_TIMEOUT = httpx.Timeout(120.0, connect=10.0)
_LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})
#: what endpoints know a recording's format by: the end of its name
_SUFFIXES = {
    "audio/ogg": "ogg",
    "audio/opus": "ogg",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/mp4": "m4a",
    "audio/m4a": "m4a",
    "audio/x-m4a": "m4a",
    "audio/aac": "m4a",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/webm": "webm",
    "audio/flac": "flac",
}


class SpeechEndpoint:
    """``gateway.ports.Transcriber`` on ``POST /audio/transcriptions``."""

    def __init__(self, settings: TranscribeSettings, key: str) -> None:
        """``key`` "": the endpoint asks for none."""
        base_url = settings.base_url.rstrip("/")
        self._address = f"{base_url}/audio/transcriptions"
        self._model = settings.model
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=_TIMEOUT,
            # a proxy of the environment is for the internet: it must not hear what stays here
            trust_env=urlsplit(base_url).hostname not in _LOOPBACK_HOSTS,
        )

    async def transcribe(self, recording: Path, mime: str) -> str:
        """See ``gateway.ports.Transcriber``."""
        content = await asyncio.to_thread(recording.read_bytes)
        name = f"recording.{_SUFFIXES.get(mime, 'ogg')}"
        try:
            response = await self._client.post(
                self._address,
                data={"model": self._model, "response_format": "json"},
                files={"file": (name, content, mime or "application/octet-stream")},
            )
        except httpx.HTTPError as error:
            raise _failure(type(error).__name__, "network", Disposition.RETRY) from None
        if response.status_code != HTTPStatus.OK:
            raise _refused(response)
        return _words(response)

    async def aclose(self) -> None:
        """See ``gateway.ports.Transcriber``."""
        await self._client.aclose()


def _words(response: httpx.Response) -> str:
    try:
        body = response.json()
    except ValueError:
        body = None
    match body:
        case {"text": str(words)}:
            return words
    raise _failure("its answer holds no text", "garbled", Disposition.GIVE_UP)


def _refused(response: httpx.Response) -> AgentError:
    """Judge by the status alone: a body may repeat the key."""
    status = response.status_code
    busy = status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT)
    again = busy or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    remedy = ""
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        remedy = ": check TRANSCRIBE_API_KEY"
    elif status == HTTPStatus.NOT_FOUND:
        remedy = ": check voice.transcribe.base_url and model"
    stated = response.headers.get("Retry-After", "")
    return AgentError(
        f"the transcription endpoint answered {status}{remedy}",
        code="transcription",
        disposition=Disposition.RETRY if again else Disposition.GIVE_UP,
        retry_after=float(stated) if stated.isdecimal() else None,
    )


def _failure(why: str, code: str, disposition: Disposition) -> AgentError:
    return AgentError(
        f"the transcription endpoint failed ({why})",
        code=f"transcription_{code}",
        disposition=disposition,
    )
