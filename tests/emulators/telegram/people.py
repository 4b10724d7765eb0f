"""What people do on the emulated Telegram, and what they find there."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tests.emulators.telegram import media, tdlib
from tests.emulators.telegram.arguments import Upload
from tests.emulators.telegram.errors import ApiError
from tests.emulators.telegram.methods import new_topic, without_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.telegram.world import Bot, Chat, World

Json = dict[str, Any]

TOKEN = "123456:TEST-TOKEN"
USER = 42


class People:
    """Half of the emulator's control API.

    Without an explicit ``bot`` (a token) every call means the bot that was registered first;
    one with ``TOKEN`` is registered when there is none. Chats and users exist from their first
    mention: a positive chat id is the private chat of that user with that bot.
    """

    def __init__(self, world: World, on_change: Callable[[], None]) -> None:
        self._world = world
        self._on_change = on_change

    # --- who is there ---

    def bot(self, token: str = TOKEN, *, username: str = "gate_bot", name: str = "Gate") -> Bot:
        """Register a bot; its id is the number in front of the token's colon."""
        return self._world.add_bot(token, username, name)

    def user(self, user: int, **facts: Any) -> None:
        """Describe a user: ``first_name``, ``username``, ``language_code`` …"""
        self._world.user(user).update(facts)

    def group(self, chat: int, *, title: str, forum: bool = False) -> None:
        """Describe a group or, below -1000000000000, a supergroup; the bots are members."""
        facts = self._chat(chat).facts
        facts["title"] = title
        if forum:
            facts["is_forum"] = True

    def topic(self, chat: int, name: str, *, user: int = USER, bot: str | None = None) -> int:
        """Open a topic (a group becomes a forum) and return its thread id."""
        place = self._chat(chat, bot)
        if not place.private:
            place.facts["is_forum"] = True
        message = new_topic(self._world, place, self._world.user(user), name)
        self._world.announce(place, {"message": message}, self._bot(bot))
        return int(message["message_id"])

    def file(self, content: bytes, *, name: str, mime: str = "application/octet-stream") -> Json:
        """Store a file and return the fields for ``say(document={**fields, …})``."""
        return dict(media.store_file(self._world, Upload(name, mime, content)).facts)

    # --- what people do ---

    def say(
        self,
        text: str = "",
        *,
        user: int = USER,
        chat: int | None = None,
        reply_to: int | None = None,
        thread: int | None = None,
        entities: list[Json] | None = None,
        bot: str | None = None,
        **raw: Any,
    ) -> int:
        """Write as ``user`` and return the message id.

        ``entities`` are found as Telegram would unless given. ``raw`` overrides message
        fields; with a file among them the text is its caption. Writing to a bot that was
        blocked unblocks it first.
        """
        place = self._chat(user if chat is None else chat, bot)
        self._restore(place, self._bot(bot))
        sender = self._world.user(user)
        content = _spoken(text, entities, raw) | _placed(place, reply_to, thread) | raw
        message = self._world.compose(place, sender, content)
        self._world.announce(place, {"message": message}, self._bot(bot))
        self._on_change()
        return int(message["message_id"])

    def edit(
        self,
        message: int,
        text: str,
        *,
        chat: int = USER,
        entities: list[Json] | None = None,
        bot: str | None = None,
        **raw: Any,
    ) -> None:
        """Change a message that somebody wrote."""
        place = self._chat(chat, bot)
        old = place.messages[message]
        kept = {key: old[key] for key in old if "entities" not in key}
        content = _spoken(text, entities, kept) | {"edit_date": int(time.time())} | raw
        changed = place.store(kept | content)
        self._world.announce(place, {"edited_message": changed}, self._bot(bot))

    def click(
        self, label: str, *, user: int = USER, chat: int = USER, bot: str | None = None
    ) -> str:
        """Press the newest button of that label and return the press's id."""
        place, target = self._chat(chat, bot), self._bot(bot)
        message, data = _button(self.messages(chat, bot=bot), label)
        press = f"438{len(self._world.callbacks) + 1}"
        body = {"id": press, "from": self._world.user(user), "message": message, "data": data}
        self._world.callbacks.add(press)
        self._world.announce(place, {"callback_query": body | {"chat_instance": "-3"}}, target)
        self._on_change()
        return press

    def push(self, update: Json, *, bot: str | None = None, update_id: int | None = None) -> int:
        """Queue a raw update, however odd, and return its id; 0 when its kind is unwanted.

        The id is the next one whatever ``update`` says; ``update_id`` jumps, as Telegram does
        after a week of silence. Chats and messages in it become known.
        """
        target = self._bot(bot)
        if update_id is not None:
            target.updates.next_id = update_id
        for body in update.values():
            self._adopt(target, body)
        return target.updates.put(update) or 0

    def duplicate(self, update_id: int | None = None, *, bot: str | None = None) -> None:
        """Deliver an update again under its id, even if confirmed; by default the newest one."""
        queue = self._bot(bot).updates
        queue.redeliver(max(queue.history) if update_id is None else update_id)

    def delete(self, chat: int, message: int, *, bot: str | None = None) -> None:
        """Delete a message for everybody; bots are not told."""
        del self._chat(chat, bot).messages[message]

    def block(self, chat: int = USER, *, bot: str | None = None) -> None:
        """The user blocks the bot, or a group removes it."""
        place, target = self._chat(chat, bot), self._bot(bot)
        self._member_update(place, target, ("member", "kicked"))
        place.removed.add(target.id)

    def migrate(self, chat: int, *, told: bool = True) -> int:
        """Make a group a supergroup and return the new id; the old one is dead from now on.

        ``told``: both notices of it reach the bot.
        """
        old, owner = self._chat(chat), self._bot(None)
        new = self._chat(-1_001_000_000_000 - abs(chat))
        new.facts["title"] = old.facts["title"]
        user = self._world.user(USER)
        moves = ((old, "migrate_to_chat_id", new.id), (new, "migrate_from_chat_id", old.id))
        for place, key, value in moves if told else ():
            message = self._world.compose(place, user, {key: value})
            self._world.announce(place, {"message": message}, owner)
        old.moved_to = new.id
        return new.id

    def revoke(self, token: str | None = None) -> None:
        """Make a token invalid, also for the poll that waits now."""
        bot = self._bot(token)
        bot.revoked = True
        bot.updates.end_poll(ApiError(401, "Unauthorized"))

    # --- what became of it ---

    def messages(self, chat: int = USER, *, bot: str | None = None) -> list[Json]:
        """Return what the chat holds now, oldest first."""
        held = self._chat(chat, bot).messages
        return [held[message] for message in sorted(held)]

    def answers(self, chat: int = USER, *, bot: str | None = None) -> list[Json]:
        """Return what the bots wrote in the chat and nobody deleted."""
        return [
            message
            for message in self.messages(chat, bot=bot)
            if message["from"]["id"] in {known.id for known in self._world.bots.values()}
        ]

    def sent_files(self, chat: int = USER) -> list[tuple[str, bytes]]:
        """Return (name, content) of the files that the bots sent to the chat."""
        shown = [
            each.get("document") or each["photo"][-1]
            for each in self.answers(chat)
            if "document" in each or "photo" in each
        ]
        files = [self._world.files[each["file_id"]] for each in shown]
        return [(file.name, file.content) for file in files]

    def pending(self, bot: str | None = None) -> list[Json]:
        """Return the updates that the bot has not confirmed."""
        return self._bot(bot).updates.pending

    # --- inside ---

    def _bot(self, token: str | None) -> Bot:
        if token is not None:
            return self._world.bots[token]
        return next(iter(self._world.bots.values()), None) or self.bot()

    def _chat(self, chat: int, bot: str | None = None) -> Chat:
        return self._world.open_chat(self._bot(bot), chat)

    def _restore(self, place: Chat, bot: Bot) -> None:
        if bot.id in place.removed:
            place.removed.discard(bot.id)
            self._member_update(place, bot, ("kicked", "member"))

    def _member_update(self, place: Chat, bot: Bot, statuses: tuple[str, str]) -> None:
        old, new = (_member(bot.user, status) for status in statuses)
        change = {
            "chat": place.facts,
            "from": self._world.user(place.id if place.private else USER),
            "date": int(time.time()),
            "old_chat_member": old,
            "new_chat_member": new,
        }
        bot.updates.put({"my_chat_member": change})

    def _adopt(self, bot: Bot, body: Any) -> None:
        match body:
            case {"id": str(callback), "message": message}:
                self._world.callbacks.add(callback)
                self._adopt(bot, message)
            case {"message_id": int(), "chat": {"id": int(chat_id)}}:
                place = self._world.open_chat(bot, chat_id)
                place.facts.update(body["chat"])
                place.store(body)
                if body.get("is_topic_message"):
                    place.threads.add(body["message_thread_id"])
                self._adopt(bot, body.get("reply_to_message"))


def _spoken(text: str, entities: list[Json] | None, rest: Json) -> Json:
    key = "caption" if any(kind in rest for kind in media.KINDS) else "text"
    if not text:
        return {}
    found = tdlib.detect(text) if entities is None else entities
    entities_key = "entities" if key == "text" else "caption_entities"
    return {key: text, **({entities_key: found} if found else {})}


def _placed(place: Chat, reply_to: int | None, thread: int | None) -> Json:
    fields: Json = {}
    if thread is not None:
        fields = {"message_thread_id": thread, "is_topic_message": True}
    target = place.messages.get(thread or 0) if reply_to is None else place.messages[reply_to]
    if target is not None:
        fields["reply_to_message"] = without_reply(target)
    return fields


def _button(messages: list[Json], label: str) -> tuple[Json, str]:
    """Return the newest message with a button of that label, and the button's data."""
    for message in reversed(messages):
        for row in message.get("reply_markup", {}).get("inline_keyboard", ()):
            for button in row:
                if button["text"] == label:
                    return message, button["callback_data"]
    raise AssertionError(f"no button {label}")


def _member(user: Json, status: str) -> Json:
    return {"user": user, "status": status, **({"until_date": 0} if status == "kicked" else {})}
