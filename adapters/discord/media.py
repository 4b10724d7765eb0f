"""Files that a message carries, as Discord announced them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.events import Attachment, AttachmentKind

if TYPE_CHECKING:
    from adapters.discord.fields import Fields

_VOICE_MESSAGE = 1 << 13

_KINDS = {
    "image": AttachmentKind.IMAGE,
    "audio": AttachmentKind.AUDIO,
    "video": AttachmentKind.VIDEO,
}


def read_attachments(message: Fields, *, source: str) -> tuple[Attachment, ...]:
    """Return files, stickers and a poll, in Discord's order.

    ``source`` names the message (``channel/id``). Addresses of files are signed and expire, so
    ``ref`` is ``channel/message/attachment``, by which a fresh address can be asked for; it is
    empty for what is no file.
    """
    voice = bool(message.code("flags") & _VOICE_MESSAGE)
    files = (_file(each, source, voice=voice) for each in message.children("attachments"))
    stickers = (
        Attachment(AttachmentKind.STICKER, ref="", name=each.name("name"))
        for each in message.children("sticker_items")
    )
    polls = (Attachment(AttachmentKind.OTHER, ref="", name="poll"),) if message.has("poll") else ()
    return (*files, *stickers, *polls)


def _file(file: Fields, source: str, *, voice: bool) -> Attachment:
    mime = file.name("content_type").partition(";")[0].strip().lower()
    kind = _KINDS.get(mime.partition("/")[0], AttachmentKind.DOCUMENT)
    return Attachment(
        AttachmentKind.VOICE if voice else kind,
        ref=f"{source}/{file.id()}",
        name=file.name("filename"),
        mime=mime,
        size=file.number("size"),
    )
