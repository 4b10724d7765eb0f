"""Running an emulator as a program of its own, for tests in other processes and for demos.

It prints one JSON line with its address, and ends when its standard input closes or its time
is over: an abandoned emulator never outlives its parent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.emulators.loopback import LoopbackServer


def argument_parser(program: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every emulator has."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.emulators.{program}")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--max-seconds", type=float, default=3600.0)
    return parser


async def serve(server: LoopbackServer, max_seconds: float, facts: Mapping[str, object]) -> None:
    """Serve until standard input closes or ``max_seconds`` are over; announce ``facts`` too."""
    async with server:
        print(json.dumps({"address": server.address, **facts}), flush=True)
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        threading.Thread(target=_watch_stdin, args=(loop, ended), daemon=True).start()
        try:
            async with asyncio.timeout(max_seconds):
                await ended.wait()
        except TimeoutError:
            print(f"emulator: {max_seconds:g} seconds are over", file=sys.stderr)


def _watch_stdin(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    # os.read: sys.stdin's lock would be held at interpreter exit
    while os.read(0, 4096):
        pass
    if not loop.is_closed():
        loop.call_soon_threadsafe(ended.set)
