"""Methods of the Bot API that write, change and remove messages."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.emulators.telegram import text as texts
from tests.emulators.telegram.catalog import CHAT_ACTIONS, REACTIONS
from tests.emulators.telegram.errors import bad_request
from tests.emulators.telegram.world import GENERAL_THREAD

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.telegram.arguments import Arguments
    from tests.emulators.telegram.world import Bot, Chat, World

Json = dict[str, Any]

#: bytes of a button's data
_LONGEST_DATA = 64


@dataclass(frozen=True, slots=True)
class Call:
    """One authorised call of a method."""

    world: World
    bot: Bot
    args: Arguments

    def chat(self) -> Chat:
        """Return the chat that ``chat_id`` names and that the bot may write to."""
        return self.world.writable_chat(self.bot, self.args.text("chat_id"))

    def formatted(self, text_key: str, entities_key: str) -> texts.Formatted:
        """Return the call's text as Telegram would store it."""
        args = self.args
        raw, mode = args.text(text_key), args.text("parse_mode")
        return texts.read(raw, mode, args.text(entities_key))


def message_text(call: Call) -> texts.Formatted:
    """Return ``text``, checked against the limits of a message."""
    if not call.args.text("text"):
        raise bad_request("message text is empty")
    formatted = call.formatted("text", "entities")
    if not formatted.text:
        raise bad_request("text must be non-empty")
    if len(formatted.text) > texts.LONGEST_TEXT:
        raise bad_request("message is too long")
    return formatted


def placement(call: Call, chat: Chat) -> Json:
    """Return the fields that place a new message: topic and reply."""
    thread = _thread(call, chat)
    target = _reply_target(call, chat)
    if target is not None and not thread and target.get("is_topic_message"):
        thread = target["message_thread_id"]
    fields: Json = {}
    if thread:
        fields = {"message_thread_id": thread, "is_topic_message": True}
        target = target or chat.messages.get(thread)
    if target is not None:
        fields["reply_to_message"] = without_reply(target)
    return fields


def without_reply(message: Json) -> Json:
    """Return a message as it is shown inside another one."""
    return {key: value for key, value in message.items() if key != "reply_to_message"}


def buttons(call: Call) -> Json:
    """Return the part of ``reply_markup`` that a message shows: inline buttons only."""
    markup = call.args.structure("reply_markup")
    shown = isinstance(markup, dict) and "inline_keyboard" in markup
    for row in markup["inline_keyboard"] if isinstance(markup, dict) and shown else ():
        for button in row:
            if not 1 <= len(button.get("callback_data", "x").encode()) <= _LONGEST_DATA:
                raise bad_request("BUTTON_DATA_INVALID")
    return {"reply_markup": markup} if shown else {}


def send_message(call: Call) -> Json:
    formatted = message_text(call)
    chat = call.chat()
    content = placement(call, chat) | formatted.fields("text", "entities") | buttons(call)
    return call.world.compose(chat, call.bot.user, content)


def edit_message_text(call: Call) -> Json:
    formatted = message_text(call)
    message = _message(call, "message to edit")
    if message["from"]["id"] != call.bot.id:
        raise bad_request("message can't be edited")
    if "text" not in message:
        raise bad_request("there is no text in the message to edit")
    changed = formatted.fields("text", "entities") | buttons(call)
    keys = ("text", "entities", "reply_markup")
    if changed == {key: message[key] for key in keys if key in message}:
        raise bad_request(
            "message is not modified: specified new message content and reply markup are "
            "exactly the same as a current content and reply markup of the message"
        )
    for key in keys:
        message.pop(key, None)
    message.update(changed, edit_date=int(time.time()))
    return message


def delete_message(call: Call) -> bool:
    message = _message(call, "message to delete")
    chat = call.chat()
    if not chat.private and message["from"]["id"] != call.bot.id:
        raise bad_request("message can't be deleted")
    del chat.messages[message["message_id"]]
    return True


def send_chat_action(call: Call) -> bool:
    if call.args.text("action") not in CHAT_ACTIONS:
        raise bad_request("wrong parameter action in request")
    _thread(call, call.chat())
    return True


def send_message_draft(call: Call) -> bool:
    formatted = call.formatted("text", "entities")
    chat = call.chat()
    _thread(call, chat)
    if not chat.private:
        raise bad_request("message drafts can be sent only to private chats")
    if not formatted.text:
        raise bad_request("text must be non-empty")
    if len(formatted.text) > texts.LONGEST_TEXT:
        raise bad_request("message is too long")
    if not call.args.number("draft_id"):
        raise bad_request("invalid draft identifier specified")
    return True


def set_message_reaction(call: Call) -> bool:
    _message(call, "message to react")
    reactions = call.args.structure("reaction") or []
    if len(reactions) > 1:
        raise bad_request("REACTIONS_TOO_MANY")
    if any(reaction.get("emoji") not in REACTIONS for reaction in reactions):
        raise bad_request("REACTION_INVALID")
    return True


def create_forum_topic(call: Call) -> Json:
    chat = call.chat()
    if not chat.facts.get("is_forum"):
        raise bad_request("the chat is not a forum")
    topic = new_topic(call.world, chat, call.bot.user, call.args.text("name"))
    return {"message_thread_id": topic["message_id"], **topic["forum_topic_created"]}


def new_topic(world: World, chat: Chat, creator: Json, name: str) -> Json:
    """Store the service message that opens a topic and return it; its id is the topic's id."""
    thread = chat.next_message
    chat.threads.add(thread)
    content = {
        "message_thread_id": thread,
        "is_topic_message": True,
        "forum_topic_created": {"name": name, "icon_color": 7322096},
    }
    return world.compose(chat, creator, content)


def _message(call: Call, what: str) -> Json:
    message = call.chat().messages.get(call.args.number("message_id"))
    if message is None:
        raise bad_request(f"{what} not found")
    return message


def _thread(call: Call, chat: Chat) -> int:
    thread = call.args.number("message_thread_id")
    if not thread or not (chat.private or chat.facts.get("is_forum")):
        return 0
    if thread == GENERAL_THREAD or thread not in chat.threads:
        raise bad_request("message thread not found")
    return thread


def _reply_target(call: Call, chat: Chat) -> Json | None:
    parameters = call.args.structure("reply_parameters") or {}
    wanted = parameters.get("message_id") or call.args.number("reply_to_message_id")
    target = chat.messages.get(wanted)
    lenient = parameters.get("allow_sending_without_reply") or call.args.flag(
        "allow_sending_without_reply"
    )
    if wanted and target is None and not lenient:
        raise bad_request("message to be replied not found")
    return target


METHODS: dict[str, Callable[[Call], Any]] = {
    "sendmessage": send_message,
    "editmessagetext": edit_message_text,
    "deletemessage": delete_message,
    "sendchataction": send_chat_action,
    "sendmessagedraft": send_message_draft,
    "setmessagereaction": set_message_reaction,
    "createforumtopic": create_forum_topic,
}
