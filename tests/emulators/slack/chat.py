"""Methods that write: posting, editing, deleting, streaming."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.emulators.slack.errors import SlackError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.slack.methods import Call
    from tests.emulators.slack.world import Channel

Json = dict[str, Any]

#: characters after which a posted text is cut, without an error
_TRUNCATED = 40_000
#: bytes of text that ``chat.update`` takes
_UPDATE = 4_000
_STREAMED = 12_000
#: characters of a block's text and of a button's
_BLOCK, _LABEL = 3_000, 75


def post_message(call: Call) -> Json:
    channel, text = call.channel(), call.args.text("text")
    if not text.strip() and not call.args.structure("blocks"):
        raise SlackError("no_text")
    message = compose(call, channel, text[:_TRUNCATED])
    cut = {"warning": "message_truncated"} if len(text) > _TRUNCATED else {}
    return {"channel": channel.id, "ts": message["ts"], "message": message, **cut}


def update(call: Call) -> Json:
    channel, text = call.channel(), call.args.text("text")
    if len(text.encode()) > _UPDATE:
        raise SlackError("msg_too_long")
    message = _own(call, channel)
    previous = dict(message)
    message["text"] = text
    message.pop("blocks", None)
    if blocks := _blocks(call):
        message["blocks"] = blocks
    message["edited"] = {"user": call.bot.user, "ts": call.world.next_ts()}
    if (metadata := call.args.structure("metadata")) is not None:
        message["metadata"] = metadata
    call.events.changed(channel, previous, message)
    return {"channel": channel.id, "ts": message["ts"], "text": text, "message": message}


def delete(call: Call) -> Json:
    channel = call.channel()
    message = _own(call, channel)
    del channel.messages[message["ts"]]
    call.events.deleted(channel, message)
    return {"channel": channel.id, "ts": message["ts"]}


def start_stream(call: Call) -> Json:
    channel = call.channel()
    if not call.args.text("thread_ts"):
        raise SlackError("invalid_thread_ts")
    message = compose(call, channel, _chunk(call))
    message["streaming"] = True
    return {"channel": channel.id, "ts": message["ts"]}


def append_stream(call: Call) -> Json:
    channel = call.channel()
    message = _streamed(call, channel)
    message["text"] += _chunk(call)
    return {"channel": channel.id, "ts": message["ts"]}


def stop_stream(call: Call) -> Json:
    channel = call.channel()
    message = _streamed(call, channel)
    message["text"] += _chunk(call)
    del message["streaming"]
    return {"channel": channel.id, "ts": message["ts"], "message": message}


def compose(call: Call, channel: Channel, text: str, **extra: Any) -> Json:
    """Store and announce a message of the bot; ``extra`` are fields of it."""
    thread = call.args.text("thread_ts")
    if thread and thread not in channel.messages:
        raise SlackError("thread_not_found")
    message: Json = {
        "type": "message",
        "user": call.bot.user,
        "bot_id": call.bot.bot_id,
        "app_id": "A0GATE0001",
        "team": call.bot.team,
        "ts": call.world.next_ts(),
        "text": text,
        **extra,
    }
    if blocks := _blocks(call):
        message["blocks"] = blocks
    if thread:
        message |= {
            "thread_ts": thread,
            "parent_user_id": channel.messages[thread].get("user", ""),
        }
    if (metadata := call.args.structure("metadata")) is not None:
        message["metadata"] = metadata
    call.world.store(channel, message)
    call.world.statuses.pop((channel.id, thread), None)
    call.events.said(channel, message)
    return message


def _blocks(call: Call) -> list[Json]:
    blocks: list[Json] = call.args.structure("blocks") or []
    for block in blocks:
        words = block.get("text", {}).get("text", "")
        labels = [each["text"]["text"] for each in block.get("elements", ())]
        if len(words) > _BLOCK or any(not 1 <= len(label) <= _LABEL for label in labels):
            raise SlackError("invalid_blocks")
    return blocks


def _own(call: Call, channel: Channel) -> Json:
    message = channel.messages.get(call.args.text("ts"))
    if message is None:
        raise SlackError("message_not_found")
    if message.get("user") != call.bot.user:
        raise SlackError("cant_update_message")
    return message


def _streamed(call: Call, channel: Channel) -> Json:
    message = _own(call, channel)
    if "streaming" not in message:
        raise SlackError("message_not_in_streaming_state")
    return message


def _chunk(call: Call) -> str:
    chunks = call.args.structure("chunks") or []
    text = call.args.text("markdown_text") + "".join(chunk.get("text", "") for chunk in chunks)
    if len(text) > _STREAMED:
        raise SlackError("msg_too_long")
    return text


METHODS: dict[str, Callable[[Call], Json]] = {
    "chat.postMessage": post_message,
    "chat.update": update,
    "chat.delete": delete,
    "chat.startStream": start_stream,
    "chat.appendStream": append_stream,
    "chat.stopStream": stop_stream,
}
