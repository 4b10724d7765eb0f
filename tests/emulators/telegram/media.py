"""Methods that send, describe and hand out files."""

from __future__ import annotations

import mimetypes
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from tests.emulators.telegram import text as texts
from tests.emulators.telegram.errors import ApiError, bad_request
from tests.emulators.telegram.methods import Call, buttons, placement
from tests.emulators.telegram.world import StoredFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.telegram.arguments import Upload
    from tests.emulators.telegram.world import World

Json = dict[str, Any]

KINDS = ("photo", "document", "voice", "audio", "video")
LARGEST_DOWNLOAD = 20 << 20
LARGEST_UPLOAD = 50 << 20
LARGEST_PHOTO = 10 << 20
MOST_IN_ALBUM = 10


def store_file(world: World, upload: Upload) -> StoredFile:
    """Keep a file; its ``file_id`` stays valid for sending it again."""
    number = len(world.files) + 1
    suffix = PurePath(upload.name).suffix or mimetypes.guess_extension(upload.mime) or ".bin"
    facts: Json = {
        "file_id": f"BQACAgIAAxkBAAM{number}",
        "file_unique_id": f"AgAD{number}",
        "file_size": len(upload.content),
    }
    path = f"documents/file_{number}{suffix}"
    stored = StoredFile(facts, upload.content, path, upload.name, upload.mime)
    world.files[facts["file_id"]] = stored
    return stored


def send_media(call: Call, kind: str) -> Json:
    """Send one file of ``kind`` with an optional caption."""
    caption = _checked(call.formatted("caption", "caption_entities"))
    chat = call.chat()
    stored = _file(call, kind, call.args.text(kind) or f"attach://{kind}")
    content = placement(call, chat) | _shown(kind, stored, call.args.number("duration"))
    content |= caption.fields("caption", "caption_entities") | buttons(call)
    return call.world.compose(chat, call.bot.user, content)


def send_media_group(call: Call) -> list[Json]:
    """Send an album: messages of their own that share ``media_group_id``."""
    items = call.args.structure("media")
    if not isinstance(items, list) or not items:
        raise bad_request("there are no messages to send")
    if len(items) > MOST_IN_ALBUM:
        raise bad_request("too many messages to send as an album")
    chat = call.chat()
    place = placement(call, chat)
    contents = [_album_item(call, item) for item in items]
    album = {"media_group_id": str(13_000_000 + chat.next_message)} if len(items) > 1 else {}
    return [
        call.world.compose(chat, call.bot.user, place | album | content) for content in contents
    ]


def get_file(call: Call) -> Json:
    stored = call.world.files.get(call.args.text("file_id"))
    if stored is None:
        raise bad_request("wrong file_id or the file is temporarily unavailable")
    if len(stored.content) > LARGEST_DOWNLOAD:
        raise bad_request("file is too big")
    return stored.facts | {"file_path": stored.path}


def _album_item(call: Call, item: Json) -> Json:
    if item.get("type") not in ("photo", "document", "audio", "video"):
        raise bad_request(
            f"can't parse InputMedia: type \"{item.get('type')}\" can't be used in sendMediaGroup"
        )
    raw = texts.read(item.get("caption", ""), item.get("parse_mode", ""), "")
    caption = _checked(raw).fields("caption", "caption_entities")
    return _shown(item["type"], _file(call, item["type"], item["media"]), 0) | caption


def _checked(caption: texts.Formatted) -> texts.Formatted:
    if len(caption.text) > texts.LONGEST_CAPTION:
        raise bad_request("message caption is too long")
    return caption


def _file(call: Call, kind: str, reference: str) -> StoredFile:
    if reference.startswith("attach://"):
        upload = call.args.uploads.get(reference.removeprefix("attach://"))
        if upload is None:
            raise bad_request(f"there is no {kind} in the request")
        _check_size(kind, len(upload.content))
        return store_file(call.world, upload)
    if reference not in call.world.files:
        raise bad_request("wrong file identifier/HTTP URL specified")
    return call.world.files[reference]


def _check_size(kind: str, size: int) -> None:
    if size > LARGEST_UPLOAD:
        raise ApiError(413, "Request Entity Too Large")
    if kind == "photo" and size > LARGEST_PHOTO:
        raise bad_request(f"file of size {size} bytes is too big for a photo")
    if size == 0:
        raise bad_request("file must be non-empty")


def _shown(kind: str, stored: StoredFile, duration: int) -> Json:
    facts = stored.facts | {"mime_type": stored.mime}
    match kind:
        case "photo":
            return {"photo": [stored.facts | {"width": 320, "height": 240}]}
        case "document":
            return {"document": facts | {"file_name": stored.name}}
        case "video":
            return {"video": facts | {"duration": duration, "width": 320, "height": 240}}
        case _:
            return {kind: facts | {"duration": duration}}


def _sender(kind: str) -> Callable[[Call], Json]:
    return lambda call: send_media(call, kind)


METHODS: dict[str, Callable[[Call], Any]] = {
    **{f"send{kind}": _sender(kind) for kind in KINDS},
    "sendmediagroup": send_media_group,
    "getfile": get_file,
}
