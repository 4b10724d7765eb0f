"""Files that people send: why one may not be had, and what is known of one that was fetched."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import PurePath

    from gateway.model.events import AttachmentKind


class FileProblem(StrEnum):
    """Why the agent gets nothing of a file. The person is told all but ``NO_FILE``."""

    TOO_LARGE = "too_large"
    #: the platform does not have it any more
    GONE = "gone"
    #: it could not be fetched, after some tries
    DOWNLOAD = "download"
    #: it is neither a picture that models see nor text
    UNREADABLE = "unreadable"
    #: speech, and no endpoint is set up that would write it down
    NO_TRANSCRIBER = "no_transcriber"
    #: speech that the endpoint could not write down
    TRANSCRIPTION = "transcription"
    #: speech without words
    SILENT = "silent"
    #: no file at all: a sticker, a poll, a place
    NO_FILE = "no_file"


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file of a turn as the agent gets it."""

    kind: AttachmentKind
    #: the sender's own name for it: a label, never a path
    name: str = ""
    #: what its first bytes say it is, else what the sender said
    mime: str = ""
    #: bytes
    size: int | None = None
    #: where it lies; None where it could not be had
    path: PurePath | None = None
    #: what it says: a document's text, or what is spoken in a recording of somebody else's
    text: str = ""
    #: ``text`` is only its beginning
    cut: bool = False
    problem: FileProblem | None = None
