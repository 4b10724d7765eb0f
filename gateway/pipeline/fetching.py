"""Fetching one file: downloaded and, where it is speech, written down; tried a few times."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from gateway.model.errors import AgentError, Disposition, GatewayError, PlatformError
from gateway.model.files import FileProblem
from gateway.pipeline import cabinet
from gateway.policy.files import is_speech
from gateway.policy.retry import Backoff
from gateway.text.clean import blank, clean

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from gateway.model.events import Attachment
    from gateway.ports import Adapter, Clock, Transcriber
    from gateway.store.files import StoredFile

log = structlog.get_logger(__name__)

#: seconds for one try of one file
PATIENCE = 60.0
BACKOFF = Backoff(first=1.0, factor=3.0, ceiling=10.0, jitter=0.2, attempts=3)
#: seconds; a platform that wants a longer pause has failed
LONGEST_PAUSE = 20.0

_PROBLEMS = {"too_large": FileProblem.TOO_LARGE, "gone": FileProblem.GONE}


@dataclass(frozen=True, slots=True)
class Fetched:
    """What became of one file."""

    file: StoredFile
    mime: str
    size: int | None
    problem: FileProblem | None = None
    #: what is said in a recording
    words: str = ""


class Fetcher:
    """Brings files into one folder. What lies there whole is never asked for again."""

    def __init__(
        self,
        clock: Clock,
        folder: Path,
        transcriber: Transcriber | None,
        *,
        roll: Callable[[], float] = random.random,
    ) -> None:
        self._clock = clock
        self._folder = folder
        self._transcriber = transcriber
        self._roll = roll

    async def fetch(
        self, file: StoredFile, attachment: Attachment, adapter: Adapter | None, *, limit: int
    ) -> Fetched:
        """Fetch one file of at most ``limit`` bytes; what fails is told and never raised."""
        path = self._folder / file.name
        problem = await self._download(path, attachment, adapter, limit)
        if problem is not None:
            return Fetched(file, file.mime, file.size, problem)
        found = await asyncio.to_thread(cabinet.examine, path, file.mime)
        if is_speech(file.kind, file.mime):
            words, problem = await self._written_down(path, file.mime)
            return Fetched(file, file.mime, found.size, problem, words)
        problem = None if found.readable else FileProblem.UNREADABLE
        return Fetched(file, found.mime, found.size, problem)

    async def _download(
        self, path: Path, attachment: Attachment, adapter: Adapter | None, limit: int
    ) -> FileProblem | None:
        if await asyncio.to_thread(path.exists):
            return None
        if adapter is None:
            return FileProblem.DOWNLOAD

        async def attempt() -> None:
            async with asyncio.timeout(PATIENCE):
                await cabinet.keep(adapter.download(attachment), path, limit=limit)

        error = await self._patiently(attempt)
        return None if error is None else _PROBLEMS.get(error.code, FileProblem.DOWNLOAD)

    async def _written_down(self, path: Path, mime: str) -> tuple[str, FileProblem | None]:
        """Return what is said in a recording; it is asked for once and kept beside it."""
        transcriber, transcript = self._transcriber, cabinet.transcript(path)
        if transcriber is None:
            return "", FileProblem.NO_TRANSCRIBER

        async def attempt() -> None:
            words = clean(await transcriber.transcribe(path, mime)).strip()
            await asyncio.to_thread(cabinet.write, transcript, words.encode())

        if not await asyncio.to_thread(transcript.exists):
            error = await self._patiently(attempt)
            if error is not None:
                return "", FileProblem.TRANSCRIPTION
        words = await asyncio.to_thread(cabinet.read, transcript)
        return words, FileProblem.SILENT if blank(words) else None

    async def _patiently(self, attempt: Callable[[], Awaitable[None]]) -> GatewayError | None:
        """Try a few times; return the last error, None when it went well."""
        for tries in range(1, BACKOFF.attempts + 1):
            error = await _tried(attempt)
            if error is None or error.disposition is Disposition.GIVE_UP:
                return error
            wait = BACKOFF.delay(tries, retry_after=error.retry_after, roll=self._roll())
            if wait is None or wait > LONGEST_PAUSE or tries == BACKOFF.attempts:
                return error
            await self._clock.sleep(wait)
        return None


async def _tried(attempt: Callable[[], Awaitable[None]]) -> GatewayError | None:
    try:
        await attempt()
    except (PlatformError, AgentError) as error:
        log.info("file.refused", action="fetch", code=error.code, why=str(error))
        return error
    except TimeoutError:
        return PlatformError("it took too long", code="timeout", disposition=Disposition.RETRY)
    except OSError as error:
        log.error("file.not_kept", action="fetch", why=error.strerror)
        return PlatformError("it could not be written down", code="disk")
    return None
