"""The least a bot can do: poll, ask the model, send. Nothing is stored; a crash loses messages.

The gateway's figures are quoted against it, measured in the same run on the same machine.
"""

from __future__ import annotations

import asyncio
import os

from openai import AsyncOpenAI
from telegram import Bot, Update


async def main() -> None:
    """Answer every text until killed."""
    bot = Bot(os.environ["TOKEN"], base_url=os.environ["TELEGRAM"])
    model = AsyncOpenAI(base_url=os.environ["MODEL"], api_key="none")
    offset = 0
    async with bot:
        while True:
            for update in await bot.get_updates(offset=offset, timeout=20, read_timeout=25):
                offset = update.update_id + 1
                await answer(bot, model, update)


async def answer(bot: Bot, model: AsyncOpenAI, update: Update) -> None:
    """One turn."""
    if update.message is None or update.message.text is None:
        return
    stream = await model.chat.completions.create(
        model="stub-model",
        messages=[{"role": "user", "content": update.message.text}],
        stream=True,
    )
    text = ""
    async for chunk in stream:
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
    await bot.send_message(update.message.chat_id, text)


if __name__ == "__main__":
    asyncio.run(main())
