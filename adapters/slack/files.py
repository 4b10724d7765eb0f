"""Files that a message carries, as Slack announced them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.events import Attachment, AttachmentKind

if TYPE_CHECKING:
    from adapters.slack.fields import Fields

#: clips that were recorded in Slack
_CLIPS = {"slack_audio": AttachmentKind.VOICE, "slack_video": AttachmentKind.VIDEO}
_KINDS = {
    "image": AttachmentKind.IMAGE,
    "audio": AttachmentKind.AUDIO,
    "video": AttachmentKind.VIDEO,
}


def read_attachments(message: Fields) -> tuple[Attachment, ...]:
    """Return the files of a message; deleted ones are left out.

    A file that Slack only hints at (from another company's channel, beyond a free plan's
    limit) has kind OTHER and nothing but its id.
    """
    files = message.children("files")
    return tuple(_read(file) for file in files if file.text("mode") != "tombstone")


def _read(file: Fields) -> Attachment:
    return Attachment(
        _kind(file),
        ref=file.required("id"),
        name=file.name("name"),
        mime=file.name("mimetype"),
        size=file.number("size"),
    )


def _kind(file: Fields) -> AttachmentKind:
    mime = file.text("mimetype")
    if not mime:
        return AttachmentKind.OTHER
    clip = _CLIPS.get(file.text("subtype"))
    return clip or _KINDS.get(mime.partition("/")[0], AttachmentKind.DOCUMENT)
