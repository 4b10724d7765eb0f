"""Files: uploading in three steps, and what a shared file looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.emulators.slack import chat
from tests.emulators.slack.errors import SlackError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.slack.methods import Call
    from tests.emulators.slack.world import World

Json = dict[str, Any]


def store(world: World, address: str, name: str, mime: str, content: bytes) -> Json:
    """Keep a file and return its object; its address asks for the bot's token."""
    number = len(world.files) + 1
    file_id = f"F{number:010d}"
    private = f"{address}/files-pri/{file_id}/{name}"
    facts = {
        "id": file_id,
        "name": name,
        "title": name,
        "mimetype": mime,
        "filetype": name.rpartition(".")[2],
        "size": len(content),
        "mode": "hosted",
        "url_private": private,
        "url_private_download": private,
        "file_access": "visible",
    }
    world.files[file_id] = (facts, content)
    return facts


def get_upload_url(call: Call) -> Json:
    name = call.args.text("filename")
    if not name or not call.args.number("length", 0):
        raise SlackError("invalid_arguments")
    facts = store(call.world, call.address, name, "application/octet-stream", b"")
    return {"upload_url": f"{call.address}/upload/{facts['id']}", "file_id": facts["id"]}


def complete_upload(call: Call) -> Json:
    announced = call.args.structure("files") or []
    unknown = [each for each in announced if each.get("id") not in call.world.files]
    if unknown or not announced:
        raise SlackError("file_not_found")
    for each in announced:
        facts = call.world.files[each["id"]][0]
        facts["title"] = each.get("title") or facts["name"]
    shared = [call.world.files[each["id"]][0] for each in announced]
    if call.args.text("channel_id"):
        channel = call.world.open_channel(call.bot, call.args.text("channel_id"))
        extra = {"subtype": "file_share", "upload": True, "files": shared}
        chat.compose(call, channel, call.args.text("initial_comment"), **extra)
    return {"files": shared}


def info(call: Call) -> Json:
    found = call.world.files.get(call.args.text("file"))
    if found is None:
        raise SlackError("file_not_found")
    return {"file": found[0]}


METHODS: dict[str, Callable[[Call], Json]] = {
    "files.getUploadURLExternal": get_upload_url,
    "files.completeUploadExternal": complete_upload,
    "files.info": info,
}
