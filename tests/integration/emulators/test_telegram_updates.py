"""getUpdates: what is delivered, when it is forgotten, and who may poll."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import telegram

from tests.emulators.telegram import TOKEN, USER

if TYPE_CHECKING:
    from tests.emulators.telegram import TelegramEmulator

GROUP = -1_009_876_543_210


async def texts(bot: telegram.Bot, **arguments: Any) -> list[str | None]:
    updates = await bot.get_updates(**{"timeout": 0, **arguments})
    return [message.text for update in updates if (message := update.effective_message)]


async def test_an_update_stays_until_a_higher_offset_confirms_it(
    tg: TelegramEmulator, bot: telegram.Bot
) -> None:
    for text in ("one", "two", "three"):
        tg.say(text)
    first = (await bot.get_updates(timeout=0))[0].update_id

    assert await texts(bot) == ["one", "two", "three"]
    assert await texts(bot, limit=2) == ["one", "two"]
    assert await texts(bot, offset=first + 1) == ["two", "three"]
    assert await texts(bot, offset=first) == ["two", "three"]
    assert await texts(bot, offset=first + 3) == []
    assert tg.pending() == []


async def test_a_negative_offset_keeps_only_the_last_ones(
    tg: TelegramEmulator, bot: telegram.Bot
) -> None:
    for text in ("one", "two", "three"):
        tg.say(text)

    assert await texts(bot, offset=-2) == ["two", "three"]
    assert await texts(bot) == ["two", "three"]


async def test_an_offset_of_another_queue_confirms_nothing(
    tg: TelegramEmulator, bot: telegram.Bot
) -> None:
    tg.say("one")

    assert await texts(bot, offset=900_000_000) == ["one"]


async def test_a_long_poll_ends_with_the_first_message(
    tg: TelegramEmulator, bot: telegram.Bot
) -> None:
    poll = asyncio.create_task(texts(bot, timeout=30))
    await tg.wait_for_calls("getUpdates")
    tg.say("one")
    tg.say("two")

    assert await poll == ["one", "two"]


async def test_a_long_poll_without_messages_ends_empty(bot: telegram.Bot) -> None:
    assert await texts(bot, timeout=1) == []


async def test_a_second_poll_fails_the_first(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    first = asyncio.create_task(texts(bot, timeout=30))
    await tg.wait_for_calls("getUpdates")
    async with telegram.Bot(TOKEN, base_url=tg.base_url) as other:
        second = asyncio.create_task(texts(other, timeout=30))
        with pytest.raises(telegram.error.Conflict, match="terminated by other getUpdates"):
            await first
        tg.say("for the second")
        assert await second == ["for the second"]


async def test_allowed_updates_filter_and_persist(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    message = tg.say("one")
    assert tg.push({"message_reaction": {}}) == 0
    await bot.get_updates(timeout=0, allowed_updates=["edited_message"])
    await bot.get_updates(timeout=0)
    tg.say("unwanted")
    tg.edit(message, "one, edited")

    assert await texts(bot) == ["one", "one, edited"]
    await bot.get_updates(timeout=0, allowed_updates=telegram.Update.ALL_TYPES)
    assert tg.push({"message_reaction": {}}) > 0


async def test_kinds_of_the_future_always_pass(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    number = tg.push({"hologram": {"id": 1}})

    (update,) = await bot.get_updates(timeout=0)
    assert update.update_id == number
    assert update.api_kwargs == {"hologram": {"id": 1}}


async def test_a_confirmed_update_can_come_again(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    tg.say("one")
    number = (await bot.get_updates(timeout=0))[0].update_id
    assert await texts(bot, offset=number + 1) == []
    tg.duplicate(number)

    (again,) = await bot.get_updates(offset=number + 1, timeout=0)
    assert again.update_id == number
    assert await texts(bot, offset=number + 1) == []


async def test_ids_may_jump_back(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    tg.say("one")
    (old,) = await bot.get_updates(timeout=0)
    assert await texts(bot, offset=old.update_id + 1) == []
    update = {"message": {"message_id": 9, "date": 0, "chat": {"id": 42, "type": "private"}}}
    assert tg.push(update, update_id=7) == 7

    (new,) = await bot.get_updates(offset=old.update_id + 1, timeout=0)
    assert new.update_id == 7


async def test_a_poisoned_update_stops_only_the_parser(
    tg: TelegramEmulator, bot: telegram.Bot
) -> None:
    tg.push({"message": {"message_id": "not a number", "chat": 7}})
    tg.say("behind it")

    with pytest.raises(KeyError):
        await bot.get_updates(timeout=0)
    assert len(tg.pending()) == 2


async def test_two_bots_have_private_chats_of_their_own(tg: TelegramEmulator) -> None:
    other = "777:OTHER"
    tg.bot(other, username="other_bot", name="Other")
    tg.say("to the first")
    tg.say("to the other", bot=other)
    tg.say("to both", chat=GROUP)

    seen = []
    for token in (TOKEN, other):
        async with telegram.Bot(token, base_url=tg.base_url) as client:
            seen.append(await texts(client))
    assert seen == [["to the first", "to both"], ["to the other", "to both"]]
    assert [message["text"] for message in tg.messages(USER)] == ["to the first"]


async def test_what_people_do_arrives_as_the_library_expects_it(
    tg: TelegramEmulator, bot: telegram.Bot
) -> None:
    tg.user(7, first_name="Ann", username="ann_lee")
    tg.group(GROUP, title="Team", forum=True)
    thread = tg.topic(GROUP, "Deploys", user=7)
    said = tg.say("@gate_bot see http://x.io", user=7, chat=GROUP, thread=thread)
    tg.say("yes", user=7, chat=GROUP, reply_to=said)
    picture = tg.file(b"png", name="p.png", mime="image/png")
    tg.say("look", user=7, photo=[{**picture, "width": 1, "height": 1}])
    tg.edit(1, "look there", chat=7)

    created, topical, reply, photo, edited = [
        update.effective_message for update in await bot.get_updates(timeout=0)
    ]
    assert created is not None
    assert created.forum_topic_created is not None
    assert topical is not None
    assert topical.from_user is not None
    assert topical.from_user.first_name == "Ann"
    assert topical.chat.is_forum
    assert topical.is_topic_message
    assert topical.message_thread_id == thread
    assert topical.reply_to_message is not None
    assert topical.reply_to_message.message_id == thread
    assert [entity.type for entity in topical.entities] == ["mention", "url"]
    assert reply is not None
    assert reply.reply_to_message is not None
    assert reply.reply_to_message.text == "@gate_bot see http://x.io"
    assert photo is not None
    assert photo.caption == "look"
    assert bytes(await (await bot.get_file(photo.photo[0])).download_as_bytearray()) == b"png"
    assert edited is not None
    assert edited.caption == "look there"
    assert edited.edit_date is not None


async def test_a_group_moves(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    tg.group(-4321, title="Old")
    tg.say("before", chat=-4321)
    new = tg.migrate(-4321)

    updates = await bot.get_updates(timeout=0)
    moved, arrived = [update.effective_message for update in updates[1:]]
    assert moved is not None
    assert (moved.chat.id, moved.migrate_to_chat_id) == (-4321, new)
    assert arrived is not None
    assert (arrived.chat.id, arrived.migrate_from_chat_id) == (new, -4321)
    assert (arrived.chat.type, arrived.chat.title) == ("supergroup", "Old")
    with pytest.raises(telegram.error.ChatMigrated) as caught:
        await bot.send_message(-4321, "too late")
    assert caught.value.new_chat_id == new


async def test_blocking_and_coming_back(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    tg.say("hello")
    tg.block(USER)
    with pytest.raises(telegram.error.Forbidden, match="blocked by the user"):
        await bot.send_message(USER, "are you there?")
    tg.say("/start")
    await bot.send_message(USER, "welcome back")

    changes = [
        (change.old_chat_member.status, change.new_chat_member.status)
        for update in await bot.get_updates(timeout=0)
        if (change := update.my_chat_member) is not None
    ]
    assert changes == [("member", "kicked"), ("kicked", "member")]


async def test_a_revoked_token_also_ends_the_poll_that_waits(
    tg: TelegramEmulator, bot: telegram.Bot
) -> None:
    poll = asyncio.create_task(texts(bot, timeout=30))
    await tg.wait_for_calls("getUpdates")
    tg.revoke()

    with pytest.raises(telegram.error.InvalidToken):
        await poll
    with pytest.raises(telegram.error.InvalidToken):
        await bot.get_me()
