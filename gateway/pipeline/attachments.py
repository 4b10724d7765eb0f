"""The files of a turn: fetched once, read where they can be read, told of where they cannot.

Nothing is fetched before its turn is opened, so nothing of a refused event ever is. A file lies
under a random name of our own; the sender's name for it is a label and never part of a path.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import structlog

from gateway.model.events import AttachmentKind
from gateway.model.files import FileProblem
from gateway.pipeline import cabinet
from gateway.pipeline.opening import in_order
from gateway.pipeline.running import unless
from gateway.policy.files import refuse, size_text
from gateway.store import files, inbox, messages, outbox, turns
from gateway.store.files import FileState, StoredFile
from gateway.text import catalog
from gateway.text.clean import blank, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from gateway.mailbox.lanes import Lease
    from gateway.model.events import Attachment
    from gateway.model.files import AttachedFile
    from gateway.pipeline.fetching import Fetched, Fetcher
    from gateway.pipeline.opening import OpenTurn
    from gateway.pipeline.post import Post
    from gateway.ports import Adapter, Clock
    from gateway.store.engine import Tx
    from gateway.store.inbox import InboxRow

log = structlog.get_logger(__name__)

#: files of one turn that are fetched at the same time
AT_ONCE = 4
#: stands before words that were spoken, in the history and in memory
SPOKEN = "🎤 "

_LABEL_LIMIT = 120


@dataclass(frozen=True, slots=True)
class Received:
    """A turn with its files; spoken words have become its messages' text."""

    opened: OpenTurn
    #: by ``message_id``
    files: Mapping[int, tuple[AttachedFile, ...]] = field(default_factory=dict)
    #: what the person has to be told of files that failed, in Markdown; "" for nothing
    complaint: str = ""

    @property
    def nothing(self) -> bool:
        """True where files failed and nothing is left that could be answered."""
        held = (each for attached in self.files.values() for each in attached)
        return bool(self.complaint) and not (
            any(_says_something(row) for row in self.opened.rows)
            or any(each.problem is None for each in held)
        )


class Attachments:
    """Fetches the files of turns."""

    def __init__(
        self,
        clock: Clock,
        folder: Path,
        post: Post,
        *,
        fetcher: Fetcher,
        transcribes: bool,
        limit: Callable[[], int],
    ) -> None:
        """``limit``: most bytes of one file, as set now."""
        self._clock = clock
        self._folder = folder
        self._post = post
        self._fetcher = fetcher
        self._transcribes = transcribes
        self._limit = limit

    async def receive(
        self, lease: Lease, opened: OpenTurn, adapter: Adapter | None, stop: asyncio.Event
    ) -> Received:
        """Return the turn with its files; without them when it is stopped meanwhile.

        A run after a crash fetches nothing again. The person is told once of what failed: here,
        or by the caller where ``Received.nothing`` is left.
        """
        if not any(row.event.attachments for row in opened.rows):
            return Received(opened)
        limit = self._limit()
        if adapter is not None:
            limit = min(limit, adapter.capabilities.max_download or limit)
        stored = await lease.write(lambda tx: self._plan(tx, opened, limit))
        waiting = [one for one in stored if one.state is FileState.WAITING]
        fetched = await unless(stop, self._fetch(opened, waiting, adapter, limit))
        if fetched is None:
            return Received(opened)
        settled, stored = await lease.write(lambda tx: self._settle(tx, opened, fetched))
        received = await self._received(settled, stored, limit)
        if received.complaint and not received.nothing:
            await lease.write(lambda tx: self._complain(tx, received))
        return received

    def _plan(self, tx: Tx, opened: OpenTurn, limit: int) -> list[StoredFile]:
        now = self._clock.now()
        for row in opened.rows:
            for ordinal, attachment in enumerate(row.event.attachments):
                problem = refuse(attachment, limit=limit, transcribes=self._transcribes)
                planned = _planned(row, ordinal, attachment, problem)
                files.plan(tx, opened.turn.id, planned, now=now)
        return files.of_turn(tx.conn, opened.turn.id)

    async def _fetch(
        self, opened: OpenTurn, waiting: Sequence[StoredFile], adapter: Adapter | None, limit: int
    ) -> list[Fetched]:
        rows = _rows(opened)
        few = asyncio.Semaphore(AT_ONCE)

        async def fetch(file: StoredFile) -> Fetched:
            attachment = rows[file.message_id].event.attachments[file.ordinal]
            async with few:
                return await self._fetcher.fetch(file, attachment, adapter, limit=limit)

        return await asyncio.gather(*(fetch(file) for file in waiting))

    def _settle(
        self, tx: Tx, opened: OpenTurn, fetched: Sequence[Fetched]
    ) -> tuple[OpenTurn, list[StoredFile]]:
        turn, rows = opened.turn, _rows(opened)
        for one in fetched:
            files.settle(tx, one.file.id, one.problem, mime=one.mime, size=one.size)
            if one.words and _own_words(rows[one.file.message_id], one.file):
                messages.append_line(tx, one.file.message_id, f"{SPOKEN}{one.words}")
        stored = files.of_turn(tx.conn, turn.id)
        failed = [one.problem.value for one in stored if one.problem is not None]
        if fetched or failed:
            status, detail = ("failed" if failed else "ok"), ", ".join(failed)
            log.info("files.received", action="fetch", turn=turn.id, failed=detail)
            now = self._clock.now()
            turns.mark(
                tx, turn.id, "files", status, detail=detail, attempt=opened.attempt, now=now
            )
        return replace(opened, rows=in_order(inbox.of_turn(tx.conn, turn.id))), stored

    async def _received(
        self, opened: OpenTurn, stored: Sequence[StoredFile], limit: int
    ) -> Received:
        rows = _rows(opened)
        held: dict[int, tuple[AttachedFile, ...]] = {}
        for file in stored:
            attached = await asyncio.to_thread(cabinet.attached, self._folder, file)
            if _own_words(rows[file.message_id], file):
                attached = replace(attached, text="")
            held[file.message_id] = (*held.get(file.message_id, ()), attached)
        return Received(opened, held, complaint(stored, opened.turn.language, limit=limit))

    def _complain(self, tx: Tx, received: Received) -> None:
        turn = received.opened.turn
        letter = outbox.Letter(
            key=f"files:{turn.id}", address=turn.address, contents=(), reply_to=turn.reply_to
        )
        self._post.notice(tx, letter, received.complaint)


def complaint(stored: Sequence[StoredFile], language: str, *, limit: int) -> str:
    """Return in Markdown which files failed, and why; "" where none did."""
    lines = []
    for file in stored:
        if file.problem in (None, FileProblem.NO_FILE):
            continue
        told = catalog.text(
            f"file.{file.problem}",
            language,
            name=file.label or catalog.text(f"file.kind.{file.kind}", language),
            size="?" if file.size is None else size_text(file.size),
            limit=size_text(limit),
        )
        lines.append(f"- {told}")
    return "\n".join([catalog.text("files.failed", language), "", *lines]) if lines else ""


def _planned(
    row: InboxRow, ordinal: int, attachment: Attachment, problem: FileProblem | None
) -> StoredFile:
    return StoredFile(
        id=0,
        message_id=row.message_id,
        ordinal=ordinal,
        kind=attachment.kind,
        label=one_line(attachment.name, _LABEL_LIMIT),
        mime=one_line(attachment.mime, _LABEL_LIMIT).lower(),
        size=attachment.size,
        name=secrets.token_hex(16),
        state=FileState.WAITING if problem is None else FileState.FAILED,
        problem=problem,
    )


def _rows(opened: OpenTurn) -> dict[int, InboxRow]:
    return {row.message_id: row for row in opened.rows}


def _own_words(row: InboxRow, file: StoredFile) -> bool:
    """Tell whether a recording is the speaker's own voice, and no file or forward."""
    return file.kind is AttachmentKind.VOICE and row.event.forward is None


def _says_something(row: InboxRow) -> bool:
    forward = row.event.forward
    return not blank(row.event.text) or (forward is not None and not blank(forward.text))
