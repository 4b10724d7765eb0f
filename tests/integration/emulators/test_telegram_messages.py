"""What a bot may write, and how Telegram words a refusal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import telegram
from telegram import MessageEntity, ReplyParameters
from telegram.constants import ReactionEmoji
from telegram.error import BadRequest, Forbidden

from tests.emulators.telegram import USER, tdlib
from tests.emulators.telegram.catalog import KINDS, REACTIONS

if TYPE_CHECKING:
    from tests.emulators.telegram import TelegramEmulator

FORUM = -1_001_234_567_890
PLAIN = -1_009_876_543_210

needs_tdlib = pytest.mark.skipif(not tdlib.HAS_TDLIB, reason="no tdjson for this machine")


@pytest.fixture(autouse=True)
def _known_chat(tg: TelegramEmulator) -> None:
    tg.say("/start")


def entity(kind: str, offset: int, length: int, **more: Any) -> MessageEntity:
    return MessageEntity(kind, offset, length, **more)


def kinds(message: telegram.Message) -> list[tuple[str, int, int]]:
    return [(found.type, found.offset, found.length) for found in message.entities]


@pytest.mark.parametrize("length", [1, 4096])
@pytest.mark.parametrize("character", ["x", "\U0001f600"])
async def test_a_text_may_have_4096_code_points(
    bot: telegram.Bot, character: str, length: int
) -> None:
    sent = await bot.send_message(USER, character * length)
    assert sent.text == character * length


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Message text is empty"),
        (" \n", "Text must be non-empty"),
        ("x" * 4097, "Message is too long"),
        ("\U0001f600" * 4097, "Message is too long"),
        ("x" * 32769, "Text is too long"),
    ],
)
async def test_texts_that_are_refused(bot: telegram.Bot, text: str, words: str) -> None:
    with pytest.raises(BadRequest, match=f"^{words}$"):
        await bot.send_message(USER, text)


@needs_tdlib
async def test_the_limit_counts_after_parsing(bot: telegram.Bot) -> None:
    sent = await bot.send_message(USER, f"<b>{'x' * 4096}</b>", parse_mode="HTML")
    assert sent.text == "x" * 4096
    assert kinds(sent) == [("bold", 0, 4096)]


@needs_tdlib
@pytest.mark.parametrize(
    ("mode", "text", "words"),
    [
        ("HTML", "<b>open", "can't find end tag corresponding to start tag"),
        ("HTML", "<div>x</div>", "unsupported start tag"),
        ("MarkdownV2", "1. one", "character '.' is reserved"),
        ("Markdown", "*open", "can't find end of the entity"),
        ("BBCode", "x", "Unsupported parse_mode"),
    ],
)
async def test_marks_that_cannot_be_parsed(
    bot: telegram.Bot, mode: str, text: str, words: str
) -> None:
    with pytest.raises(BadRequest, match=words):
        await bot.send_message(USER, text, parse_mode=mode)


@needs_tdlib
async def test_entities_are_normalised_and_automatic_ones_added(bot: telegram.Bot) -> None:
    given = [entity("bold", 2, 9), entity("italic", 7, 10), entity("code", 31, 9)]
    sent = await bot.send_message(
        USER, "  bold and see https://x.io or @gate_bot  ", entities=given
    )

    assert sent.text == "bold and see https://x.io or @gate_bot"
    assert kinds(sent) == [
        ("bold", 0, 5),
        ("italic", 5, 8),
        ("bold", 5, 4),
        ("url", 13, 12),
        ("italic", 13, 2),
        ("code", 29, 9),
    ]


@needs_tdlib
async def test_marks_in_a_text_without_mode_are_just_text(bot: telegram.Bot) -> None:
    sent = await bot.send_message(USER, "**a** `b` [c](d)", entities=[entity("italic", 2, 1)])
    assert sent.text == "**a** `b` [c](d)"
    assert kinds(sent) == [("italic", 2, 1)]


@needs_tdlib
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (entity("bold", 0, 99), "ends after the end of the text"),
        (entity("bold", 50, 1), "begins after the end of the text"),
        (entity("bold", 1, 1), "in a middle of a utf-16 symbol"),
        (entity("bold", -1, 1), "incorrect offset"),
        (entity("text_link", 0, 2, url="javascript:x"), "is invalid"),
        (entity("text_link", 0, 2), 'can\'t find field "url"'),
        (entity("sparkle", 0, 2), "unsupported type specified"),
    ],
)
async def test_entities_that_are_refused(
    bot: telegram.Bot, given: MessageEntity, words: str
) -> None:
    with pytest.raises(BadRequest, match=words):
        await bot.send_message(USER, "\U0001f600 smile", entities=[given])


@needs_tdlib
async def test_entities_after_the_hundredth_disappear(bot: telegram.Bot) -> None:
    given = [entity("bold", 2 * place, 1) for place in range(150)]
    sent = await bot.send_message(USER, "x " * 150, entities=given)
    assert len(sent.entities) == 100


@pytest.mark.parametrize(
    ("chat", "error", "words"),
    [
        (999, BadRequest, "Chat not found"),
        (-999, BadRequest, "Chat not found"),
        (7, Forbidden, "can't initiate conversation"),
        (PLAIN, Forbidden, "bot was kicked from the supergroup chat"),
    ],
)
async def test_chats_that_cannot_be_written_to(
    tg: TelegramEmulator,
    bot: telegram.Bot,
    chat: int,
    error: type[telegram.error.TelegramError],
    words: str,
) -> None:
    tg.say("a stranger speaks", user=7, chat=PLAIN)
    tg.block(PLAIN)
    with pytest.raises(error, match=words):
        await bot.send_message(chat, "hello")


async def test_a_reply_needs_its_target_unless_told_otherwise(
    tg: TelegramEmulator, bot: telegram.Bot
) -> None:
    asked = tg.say("a question")
    sent = await bot.send_message(USER, "answer", reply_parameters=ReplyParameters(asked))
    assert sent.reply_to_message is not None
    assert sent.reply_to_message.text == "a question"

    tg.delete(USER, asked)
    with pytest.raises(BadRequest, match="Message to be replied not found"):
        await bot.send_message(USER, "again", reply_parameters=ReplyParameters(asked))
    lenient = ReplyParameters(asked, allow_sending_without_reply=True)
    sent = await bot.send_message(USER, "again", reply_parameters=lenient)
    assert sent.reply_to_message is None


@pytest.mark.parametrize("thread", [1, 77])
async def test_general_and_unknown_topics_are_not_found(
    tg: TelegramEmulator, bot: telegram.Bot, thread: int
) -> None:
    tg.topic(FORUM, "Deploys")
    tg.say("general", chat=FORUM)
    with pytest.raises(BadRequest, match="Message thread not found"):
        await bot.send_message(FORUM, "x", message_thread_id=thread)


async def test_a_topic_is_kept_and_inherited_by_replies(
    tg: TelegramEmulator, bot: telegram.Bot
) -> None:
    thread = tg.topic(FORUM, "Deploys")
    said = tg.say("in topic", chat=FORUM, thread=thread)
    direct = await bot.send_message(FORUM, "x", message_thread_id=thread)
    reply = await bot.send_message(FORUM, "y", reply_parameters=ReplyParameters(said))

    assert [message.message_thread_id for message in (direct, reply)] == [thread, thread]
    created = await bot.create_forum_topic(FORUM, "Another")
    await bot.send_message(FORUM, "z", message_thread_id=created.message_thread_id)


async def test_a_plain_supergroup_ignores_threads(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    tg.say("hi", chat=PLAIN)
    sent = await bot.send_message(PLAIN, "x", message_thread_id=77)
    assert sent.message_thread_id is None


async def test_an_edit_replaces_text_and_entities(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    sent = await bot.send_message(USER, "one", entities=[entity("bold", 0, 3)])
    edited = await bot.edit_message_text("two", USER, sent.message_id)

    assert isinstance(edited, telegram.Message)
    assert (edited.text, edited.entities, edited.date) == ("two", (), sent.date)
    assert edited.edit_date is not None
    assert [message["text"] for message in tg.answers()] == ["two"]


async def test_edits_that_are_refused(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    own = await bot.send_message(USER, "mine")
    photo = await bot.send_photo(USER, b"png")
    for message, words in [
        (own.message_id, "Message is not modified"),
        (1, "Message can't be edited"),
        (99, "Message to edit not found"),
        (photo.message_id, "There is no text in the message to edit"),
    ]:
        with pytest.raises(BadRequest, match=words):
            await bot.edit_message_text("mine", USER, message)


async def test_what_may_be_deleted(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    foreign = tg.say("theirs", chat=PLAIN)
    own = await bot.send_message(PLAIN, "mine")
    assert await bot.delete_message(PLAIN, own.message_id)
    assert await bot.delete_message(USER, 1)
    with pytest.raises(BadRequest, match="Message to delete not found"):
        await bot.delete_message(PLAIN, own.message_id)
    with pytest.raises(BadRequest, match="Message can't be deleted"):
        await bot.delete_message(PLAIN, foreign)


async def test_files_go_up_and_come_down(bot: telegram.Bot) -> None:
    sent = await bot.send_document(USER, b"content", filename="a.txt", caption="see @gate_bot")
    assert sent.document is not None
    assert (sent.document.file_name, sent.document.mime_type) == ("a.txt", "text/plain")
    assert sent.caption_entities[0].type == "mention"

    handle = await bot.get_file(sent.document.file_id)
    assert bytes(await handle.download_as_bytearray()) == b"content"
    again = await bot.send_document(USER, sent.document.file_id)
    assert again.document == sent.document
    voice = await bot.send_voice(USER, b"ogg", duration=3)
    assert voice.voice is not None
    with pytest.raises(BadRequest, match="Wrong file_id"):
        await bot.get_file("unknown")


async def test_limits_of_files_and_captions(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    big = tg.file(bytes((20 << 20) + 1), name="big.bin")
    with pytest.raises(BadRequest, match="File is too big"):
        await bot.get_file(big["file_id"])
    with pytest.raises(BadRequest, match="File must be non-empty"):
        await bot.send_document(USER, b"")
    with pytest.raises(BadRequest, match="Message caption is too long"):
        await bot.send_photo(USER, b"png", caption="x" * 1025)
    await bot.send_photo(USER, b"png", caption="\U0001f600" * 1024)


async def test_an_album_shares_one_id(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    pictures = [telegram.InputMediaPhoto(b"a", caption="two pics"), telegram.InputMediaPhoto(b"b")]
    sent = await bot.send_media_group(USER, pictures)
    assert len({message.media_group_id for message in sent}) == 1
    assert [message.caption for message in sent] == ["two pics", None]
    with pytest.raises(BadRequest, match="Too many messages to send as an album"):
        await bot.send_media_group(USER, [telegram.InputMediaPhoto(b"a")] * 11)


async def test_signs_of_life_and_reactions(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    assert await bot.send_chat_action(USER, "typing")
    assert await bot.send_message_draft(USER, draft_id=1, text="wri")
    assert await bot.set_message_reaction(USER, 1, reaction="👍")
    assert [call.args["text"] for call in tg.calls_of("sendMessageDraft")] == ["wri"]
    with pytest.raises(BadRequest, match="Wrong parameter action in request"):
        await bot.send_chat_action(USER, "dancing")
    with pytest.raises(BadRequest, match="Reaction_invalid"):
        await bot.set_message_reaction(USER, 1, reaction="✅")


async def test_buttons_and_their_presses(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    markup = telegram.InlineKeyboardMarkup.from_button(
        telegram.InlineKeyboardButton("Yes", callback_data="ok:1")
    )
    sent = await bot.send_message(USER, "Approve?", reply_markup=markup)
    assert sent.reply_markup == markup
    press = {"id": "4382", "from": {"id": USER, "is_bot": False, "first_name": "Ann"}}
    press |= {"message": sent.to_dict(), "chat_instance": "-3", "data": "ok:1"}
    tg.push({"callback_query": press})
    update = (await bot.get_updates(timeout=0))[-1]
    assert update.callback_query is not None
    assert await update.callback_query.answer()
    with pytest.raises(BadRequest, match="Query is too old"):
        await bot.answer_callback_query("unknown")


async def test_command_menus_by_scope_and_language(bot: telegram.Bot) -> None:
    await bot.set_my_commands([("new", "Begin anew")])
    await bot.set_my_commands([("new", "Von vorn")], language_code="de")
    assert (await bot.get_my_commands())[0].description == "Begin anew"
    assert (await bot.get_my_commands(language_code="de"))[0].description == "Von vorn"
    with pytest.raises(BadRequest, match="Bot_command_invalid"):
        await bot.set_my_commands([("New-One", "x")])


async def test_arguments_may_come_as_query_form_or_json(bot: telegram.Bot) -> None:
    import httpx

    expected = {"offset": 0, "length": 2, "type": "bold"}
    fields = {"chat_id": str(USER), "text": "42", "entities": json.dumps([expected])}
    body = {"chat_id": USER, "text": "42", "entities": [expected]}
    url = f"{bot.base_url}/sendMessage"
    async with httpx.AsyncClient() as client:
        answers = [
            await client.get(url, params=fields),
            await client.post(url, data=fields),
            await client.post(url, json=body),
        ]
    assert [answer.json()["result"]["text"] for answer in answers] == ["42"] * 3
    assert all(answer.json()["result"]["entities"] == [expected] for answer in answers)


def test_the_closed_lists_are_those_of_the_library() -> None:
    assert {emoji.value for emoji in ReactionEmoji} == REACTIONS
    assert set(telegram.Update.ALL_TYPES) == KINDS


async def test_drafts_are_for_private_chats(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    tg.say("hi", chat=PLAIN)
    with pytest.raises(BadRequest, match="private chats"):
        await bot.send_message_draft(PLAIN, draft_id=1, text="wri")
