"""The console, over pipes: one person, nobody else, and nothing that can be taken back."""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.console.adapter import ConsoleAdapter
from adapters.console.manifest import PLATFORM
from adapters.console.parse import ACCOUNT, PLACE
from gateway.model.outbound import Address
from gateway.ports import ConnectionState
from tests.contract.adapters.core import Core, rules_for
from tests.contract.adapters.rig import Shown, fenced, until
from tests.integration.console.core import RealClock
from tests.integration.console.pipes import Pipes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.model.events import InboundEvent
    from tests.contract.adapters.rig import Trait

_LIES = re.compile(r"📎 (.+): (\S+)")


class ConsoleRig:
    """Lines of a pipe. What was written while nobody read waits in the pipe."""

    traits: frozenset[Trait] = frozenset()
    limit = 1_000_000

    def __init__(self, pipes: Pipes) -> None:
        self.core = Core(rules_for(PLATFORM, "", ""))
        self.address = Address(PLATFORM, ACCOUNT, PLACE)
        self._pipes = pipes
        self._written = b""
        self._task: asyncio.Task[None] | None = None
        os.set_blocking(pipes.stdout, False)

    @property
    def adapter(self) -> ConsoleAdapter:
        return self._adapter

    async def up(self) -> None:
        self._adapter = ConsoleAdapter(self._pipes.streams, clock=RealClock())
        self.core.adapter = self._adapter
        self._task = asyncio.create_task(self._adapter.run(self.core))
        await until(lambda: self._adapter.status.state is ConnectionState.CONNECTED)

    async def down(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            await self._adapter.aclose()

    async def say(self, text: str, *, group: bool = False) -> str:
        assert not group
        self._pipes.write(f"{text}\n".encode())
        return text

    async def bot_says(self, text: str) -> None:
        raise AssertionError("there is nobody else")

    async def edit(self, message: str, text: str) -> None:
        raise AssertionError("a line stays as it is")

    async def duplicate(self) -> None:
        raise AssertionError("a pipe repeats nothing")

    def lose(self, *, file: bool = False) -> None:
        raise AssertionError("nobody answers a write")

    def click(self, label: str) -> None:
        raise AssertionError("a line has no buttons")

    async def heard_clicks(self) -> int:
        return 0

    def remove(self) -> None:
        raise AssertionError("what is written stays")

    def refuse_file(self, *, large: bool) -> None:
        raise AssertionError("the file lies here already")

    def files(self) -> list[tuple[str, bytes]]:
        """Open what the console says lies somewhere."""
        said = "\n".join(shown.text for shown in self.messages())
        return [(name, Path(path).read_bytes()) for name, path in _LIES.findall(said)]

    def messages(self) -> list[Shown]:
        with suppress(BlockingIOError):
            while more := os.read(self._pipes.stdout, 65536):
                self._written += more
        text = self._written.decode()
        return [Shown(text, fenced(text), len(text))] if text else []

    def recorded(self) -> list[InboundEvent]:
        return []

    def untranslated(self) -> set[type[Exception]]:
        return set()


@asynccontextmanager
async def console() -> AsyncIterator[ConsoleRig]:
    """Give a console on three pipes."""
    with Pipes() as pipes:
        yield ConsoleRig(pipes)
