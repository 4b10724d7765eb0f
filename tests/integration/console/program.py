"""A console on this process's own standard streams; run as a module by the tests."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from adapters.console.adapter import ConsoleAdapter
from adapters.console.attach import attach
from adapters.console.front import Streams
from tests.integration.console.core import Core, RealClock


async def _main(socket: Path | None, role: str) -> int:
    streams = Streams(sys.stdin, sys.stdout, sys.stderr)
    if role == "attach" and socket:
        return await attach(socket, streams)
    adapter = ConsoleAdapter(streams, clock=RealClock(), socket_path=socket)
    if sys.stderr:
        print(f"input: {adapter.input_kind}", file=sys.stderr, flush=True)
    await Core().run(adapter)
    return 0


if __name__ == "__main__":
    path, role = (*sys.argv[1:], "", "")[:2]
    sys.exit(asyncio.run(_main(Path(path) if path else None, role)))
