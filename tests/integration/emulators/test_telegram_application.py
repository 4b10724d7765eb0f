"""A whole python-telegram-bot application, as its users write it, polls the emulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from telegram.ext import Application, ContextTypes, MessageHandler, filters

from tests.emulators.telegram import TOKEN, TelegramEmulator

if TYPE_CHECKING:
    from telegram import Update


async def echo(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    assert update.effective_message is not None
    await update.effective_message.reply_text(f"echo {update.effective_message.text}")


async def test_it_polls_answers_and_survives_an_outage(tg: TelegramEmulator) -> None:
    builder = Application.builder().token(TOKEN).base_url(tg.base_url)
    application: Application[Any, Any, Any, Any, Any, Any] = builder.build()
    application.add_handler(MessageHandler(filters.TEXT, echo))
    async with application:
        await application.start()
        assert application.updater is not None
        await application.updater.start_polling(timeout=1)
        tg.say("one")
        await tg.wait_for(1)
        await tg.down(0)
        tg.say("two")
        answers = await tg.wait_for(2)
        await application.updater.stop()
        await application.stop()

    assert [answer["text"] for answer in answers] == ["echo one", "echo two"]
    assert tg.pending() == []
