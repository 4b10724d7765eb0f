"""``python -m tests.emulators.discord``: the emulator as a program of its own."""

from __future__ import annotations

import asyncio

from tests.emulators.discord import TOKEN, DiscordEmulator
from tests.emulators.standalone import argument_parser, serve


async def main() -> None:
    """Serve the bots named by ``--token`` until standard input closes."""
    parser = argument_parser("discord")
    parser.add_argument("--token", action="append", help="a bot's token; may be repeated")
    options = parser.parse_args()
    emulator = DiscordEmulator(options.port)
    tokens = options.token or [TOKEN]
    for token in tokens:
        emulator.bot(token)
    facts = {"api_base": emulator.api_base, "gateway_url": emulator.gateway_url}
    await serve(emulator, options.max_seconds, facts | {"tokens": tokens})


if __name__ == "__main__":
    asyncio.run(main())
