"""Files that people send, and files that are sent to them: what is known of one, or is amiss."""

from __future__ import annotations

from dataclasses import dataclass, field
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
class MadeFile:
    """A file that the agent hands to its person. ``data`` stays out of ``repr``."""

    #: a safe file name: what the person sees, never a path
    label: str
    mime: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class SentFile:
    """A stored file of ours that a part carries."""

    #: our own name for it in the folder of files
    name: str
    label: str
    mime: str
    #: bytes
    size: int


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
