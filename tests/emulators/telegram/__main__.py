"""``python -m tests.emulators.telegram``: the emulator as a program of its own."""

from __future__ import annotations

import asyncio

from tests.emulators.standalone import argument_parser, serve
from tests.emulators.telegram import TOKEN, TelegramEmulator


async def main() -> None:
    """Serve the bots named by ``--token`` until standard input closes."""
    parser = argument_parser("telegram")
    parser.add_argument("--token", action="append", help="a bot's token; may be repeated")
    options = parser.parse_args()
    emulator = TelegramEmulator(options.port)
    tokens = options.token or [TOKEN]
    for token in tokens:
        emulator.bot(token)
    facts = {"base_url": emulator.base_url, "base_file_url": emulator.base_file_url}
    await serve(emulator, options.max_seconds, facts | {"tokens": tokens})


if __name__ == "__main__":
    asyncio.run(main())
