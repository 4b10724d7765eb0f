"""What a file is by its bytes, what can be done with it, and how it is called."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from gateway.model.events import AttachmentKind
from gateway.model.files import FileProblem

if TYPE_CHECKING:
    from gateway.model.events import Attachment

#: characters of a document that are read
TEXT_LIMIT = 60_000

_MAGIC: tuple[tuple[bytes, int, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF87a", 0, "image/gif"),
    (b"GIF89a", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
)
#: media types of pictures that models see
IMAGES = frozenset(mime for _, _, mime in _MAGIC)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

_UNITS = ("B", "kB", "MB", "GB")


def refuse(attachment: Attachment, *, limit: int, transcribes: bool) -> FileProblem | None:
    """Say why a file is not even fetched, None where it is. ``limit`` is in bytes."""
    if not is_file(attachment):
        return FileProblem.NO_FILE
    if attachment.size is not None and attachment.size > limit:
        return FileProblem.TOO_LARGE
    if attachment.kind is AttachmentKind.VIDEO:
        return FileProblem.UNREADABLE
    if is_speech(attachment.kind, attachment.mime) and not transcribes:
        return FileProblem.NO_TRANSCRIBER
    return None


def is_file(attachment: Attachment) -> bool:
    """Tell whether something sent is a file, and no sticker, poll or place."""
    return bool(attachment.ref) and attachment.kind is not AttachmentKind.STICKER


def is_speech(kind: AttachmentKind, mime: str) -> bool:
    """Tell whether a file is a recording."""
    return kind in (AttachmentKind.VOICE, AttachmentKind.AUDIO) or mime.startswith("audio/")


def image_type(head: bytes) -> str:
    """Return the media type of a picture that models see, by its first bytes; "" for others."""
    for magic, at, mime in _MAGIC:
        if head[at : at + len(magic)] == magic:
            return mime
    return ""


def read_text(data: bytes, *, whole: bool) -> str | None:
    """Return what a text document says, at most ``TEXT_LIMIT`` characters; None: it is no text.

    ``whole``: ``data`` is all of the file, so that nothing may be cut off at its end.
    """
    utf16 = data[:2] in _UTF16
    decoder = codecs.getincrementaldecoder("utf-16" if utf16 else "utf-8-sig")()
    try:
        text = decoder.decode(data, final=whole)
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    return text[:TEXT_LIMIT]


def size_text(size: int) -> str:
    """Return a number of bytes as people read it: ``3.2 MB``."""
    amount, unit = float(size), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.3g} {_UNITS[unit]}"
