"""Files that a message carries, as Telegram announced them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.events import Attachment, AttachmentKind

if TYPE_CHECKING:
    from adapters.telegram.fields import Fields

#: an animation repeats itself as ``document`` for old clients: the first match wins
_FILES = {
    "animation": AttachmentKind.VIDEO,
    "voice": AttachmentKind.VOICE,
    "audio": AttachmentKind.AUDIO,
    "video": AttachmentKind.VIDEO,
    "video_note": AttachmentKind.VIDEO,
    "sticker": AttachmentKind.STICKER,
    "document": AttachmentKind.DOCUMENT,
}

#: things a person shares that are no file: named, so that they are not met with silence
_OBJECTS = ("venue", "location", "contact", "poll", "dice", "checklist", "game", "story")


def read_attachments(message: Fields) -> tuple[Attachment, ...]:
    """Return the message's file or shared object; Telegram allows one a message.

    An object without a file has kind OTHER, its type as ``name`` and an empty ``ref``.
    """
    if sizes := message.children("photo"):
        largest = max(sizes, key=_area)
        return (_file(largest, AttachmentKind.IMAGE),)
    for key, kind in _FILES.items():
        if (file := message.child(key)) is not None:
            return (_file(file, kind),)
    for key in _OBJECTS:
        if message.has(key):
            return (Attachment(AttachmentKind.OTHER, ref="", name=key),)
    return ()


def _area(size: Fields) -> int:
    return (size.number("width") or 0) * (size.number("height") or 0)


def _file(file: Fields, kind: AttachmentKind) -> Attachment:
    label = "emoji" if kind is AttachmentKind.STICKER else "file_name"
    return Attachment(
        kind,
        ref=file.text("file_id"),
        name=file.name(label),
        mime=file.name("mime_type"),
        size=file.number("file_size"),
    )
