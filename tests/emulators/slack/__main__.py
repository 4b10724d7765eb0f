"""``python -m tests.emulators.slack``: the emulator as a program of its own."""

from __future__ import annotations

import asyncio

from tests.emulators.slack import APP_TOKEN, SIGNING_SECRET, TOKEN, SlackEmulator
from tests.emulators.standalone import argument_parser, serve


async def main() -> None:
    """Serve one team with one app until standard input closes."""
    parser = argument_parser("slack")
    parser.add_argument("--events-url", help="post events there instead of to sockets")
    options = parser.parse_args()
    emulator = SlackEmulator(options.port)
    emulator.bot()
    emulator.events_url = options.events_url
    facts = {"base_url": emulator.base_url, "tokens": [TOKEN], "app_token": APP_TOKEN}
    await serve(emulator, options.max_seconds, facts | {"signing_secret": SIGNING_SECRET})


if __name__ == "__main__":
    asyncio.run(main())
