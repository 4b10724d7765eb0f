"""The Bot API of one token, by python-telegram-bot; every failure is a PlatformError."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from telegram import (
    Bot,
    BotCommand,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    ReplyParameters,
)
from telegram.constants import ChatAction
from telegram.error import BadRequest, TelegramError
from telegram.request import HTTPXRequest

from adapters.telegram.drafts import Sent, WebhookState
from adapters.telegram.errors import translated
from adapters.telegram.words import Me
from gateway.model.errors import PlatformError
from gateway.model.ids import AccountId, MessageId
from gateway.policy.redact import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from telegram import Message

    from adapters.telegram.drafts import Draft, Upload
    from adapters.telegram.manifest import TelegramSettings
    from gateway.model.choice import Choice
    from gateway.model.ids import PlaceId, ThreadId

#: What is read from Telegram. Reactions and members are left out: nothing uses them.
ALLOWED_UPDATES = (
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "my_chat_member",
    "callback_query",
)

MOST_UPDATES = 100
#: Telegram's refusal of an edit that would change nothing
_UNCHANGED = "message is not modified"
#: how much longer than the poll itself an answer to it may take
_POLL_GRACE = 5.0

#: Loggers that put addresses (and so the token), arguments and answers into their records.
TALKATIVE = ("httpx", "httpcore", "telegram")


def quiet_libraries() -> None:
    """Keep the libraries' records below WARNING out of every log, whatever the root's level."""
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


class _Request(HTTPXRequest):
    """PTB's transport; an answer that is no JSON object is not written to the log."""

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, object]:
        try:
            answer = json.loads(payload.decode("utf-8", "replace"))
        except ValueError as error:
            raise TelegramError("Invalid server response") from error
        if not isinstance(answer, dict):
            raise TelegramError("Invalid server response")
        return answer


class Client:
    """Calls of one bot. Safe for concurrent use; ``aclose`` ends every connection.

    Library objects show the token in their ``repr``, so none is handed out.
    """

    def __init__(self, token: str, settings: TelegramSettings) -> None:
        quiet_libraries()
        self._polls = _Request(connection_pool_size=2, pool_timeout=5.0)
        self._calls = _Request(
            connection_pool_size=64, read_timeout=20.0, write_timeout=20.0, pool_timeout=10.0
        )
        self._bot = Bot(
            token,
            base_url=settings.base_url,
            base_file_url=settings.base_file_url,
            request=self._calls,
            get_updates_request=self._polls,
        )

    async def get_me(self) -> Me:
        """Return the bot's id and present username."""
        with translated():
            user = await self._bot.get_me()
            return Me(AccountId(str(user.id)), user.username or "")

    async def drop_webhook(self) -> bool:
        """Remove a webhook, which would keep every update from us; say whether there was one."""
        with translated():
            if not (await self._bot.get_webhook_info()).url:
                return False
            return await self._bot.delete_webhook()

    async def set_webhook(self, url: str, secret: str) -> None:
        """Let Telegram post every update to ``url``, one at a time, with ``secret``."""
        with translated():
            await self._bot.set_webhook(
                url, allowed_updates=ALLOWED_UPDATES, secret_token=secret, max_connections=1
            )

    async def webhook_state(self) -> WebhookState:
        """Return what Telegram says of the webhook."""
        with translated():
            info = await self._bot.get_webhook_info()
            return WebhookState(
                info.url,
                info.pending_update_count,
                redact(info.last_error_message or "", ()),
                info.last_error_date,
            )

    async def set_commands(self, commands: Sequence[tuple[str, str]]) -> None:
        """Show ``(name, description)`` pairs in Telegram's own command menu."""
        with translated():
            await self._bot.set_my_commands([BotCommand(*command) for command in commands])

    async def get_updates(self, offset: int | None, seconds: int) -> object:
        """Wait up to ``seconds`` for updates and return Telegram's raw answer.

        Naming ``offset`` confirms every update below it: they are gone from Telegram. Raw,
        because one update that the library cannot read would else block all behind it.
        """
        arguments = {
            "timeout": seconds,
            "limit": MOST_UPDATES,
            "allowed_updates": json.dumps(ALLOWED_UPDATES),
        }
        if offset is not None:
            arguments["offset"] = offset
        address = f"{self._bot.base_url}/getUpdates?{urlencode(arguments)}"
        with translated():
            return await self._polls.post(address, read_timeout=seconds + _POLL_GRACE)

    async def send_message(self, draft: Draft) -> Sent:
        """Post one message, without link preview: fetching one tells a site of the answer.

        A reply whose target is gone is posted without it. Raises ``AmbiguousSendError`` when
        Telegram may have posted it.
        """
        thread, reply = _number(draft.thread), _reply(draft.reply_to)
        with translated(sending=True):
            message = await self._bot.send_message(
                draft.place,
                draft.text,
                entities=draft.entities,
                message_thread_id=thread,
                reply_parameters=reply,
                reply_markup=_keyboard(draft.choice),
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
            return _sent(message, draft.reply_to)

    async def send_file(self, upload: Upload) -> Sent:
        """Post one file. Raises ``AmbiguousSendError`` when Telegram may have posted it."""
        send = self._bot.send_photo if upload.photo else self._bot.send_document
        content = await asyncio.to_thread(upload.path.read_bytes)
        with translated(sending=True):
            message = await send(
                upload.place,
                content,
                filename=upload.name,
                message_thread_id=_number(upload.thread),
                reply_parameters=_reply(upload.reply_to),
            )
            return _sent(message, upload.reply_to)

    async def edit_message(
        self, draft: Draft, message: MessageId, *, finishing: bool = False
    ) -> None:
        """Give a message of the bot's own the draft's text; doing it twice changes nothing.

        Its buttons go, unless the draft has some. ``finishing``: the message becomes an answer,
        so an unknown outcome raises ``AmbiguousSendError``: another process would post it anew.
        """
        with translated(sending=finishing):
            try:
                await self._bot.edit_message_text(
                    draft.text,
                    draft.place,
                    int(message),
                    entities=draft.entities,
                    reply_markup=_keyboard(draft.choice),
                    link_preview_options=LinkPreviewOptions(is_disabled=True),
                )
            except BadRequest as error:
                if _UNCHANGED not in error.message.lower():
                    raise

    async def answer_press(self, press: str) -> None:
        """Let a pressed button stop showing that it waits."""
        with translated():
            await self._bot.answer_callback_query(press)

    async def delete_message(self, place: PlaceId, message: MessageId) -> None:
        """Remove a message of the bot's own."""
        with translated():
            await self._bot.delete_message(place, int(message))

    async def show_draft(self, draft: Draft, number: int) -> None:
        """Show a person's chat an answer that is being written, for about half a minute.

        It is no message and leaves none; ``number`` (not 0) tells one answer from another.
        """
        with translated():
            await self._bot.send_message_draft(
                int(draft.place),
                number,
                draft.text,
                message_thread_id=_number(draft.thread),
                entities=draft.entities,
            )

    async def file_address(self, file: str) -> str:
        """Return where a file can be fetched for an hour. The address holds the token."""
        with translated():
            path = (await self._bot.get_file(file)).file_path
        if not path:
            raise PlatformError("Telegram names no place of the file", code="gone")
        return path

    async def send_typing(self, place: PlaceId, thread: ThreadId | None) -> None:
        """Show "typing…" for about five seconds."""
        topic = _number(thread)
        with translated():
            await self._bot.send_chat_action(place, ChatAction.TYPING, message_thread_id=topic)

    async def aclose(self) -> None:
        """Close all connections; nothing may be called afterwards."""
        await self._polls.shutdown()
        await self._calls.shutdown()


def _sent(message: Message, reply_to: MessageId | None) -> Sent:
    target = message.reply_to_message
    replied = target is not None and str(target.message_id) == reply_to
    return Sent(MessageId(str(message.message_id)), replied=replied)


def _number(thread: ThreadId | None) -> int | None:
    return None if thread is None else int(thread)


def _keyboard(choice: Choice | None) -> InlineKeyboardMarkup | None:
    if choice is None:
        return None
    buttons = [
        InlineKeyboardButton(option.label, callback_data=choice.data(option))
        for option in choice.options
    ]
    return InlineKeyboardMarkup([buttons])


def _reply(message: MessageId | None) -> ReplyParameters | None:
    """A message that is no number here (a reply across chats, an event) cannot be answered."""
    if message is None or not message.isdecimal():
        return None
    return ReplyParameters(int(message), allow_sending_without_reply=True)
