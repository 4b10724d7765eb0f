"""Gateways as processes, from the side of the test that kills them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.crash.driver import Orders
from tests.fakes.household import Household

if TYPE_CHECKING:
    from collections.abc import Collection

    from tests.emulators.telegram import TelegramEmulator

#: lanes of work that goes on behind the answers
BESIDE = ("memory", "prefetch", "settle")

ROOT = Path(__file__).resolve().parents[2]


class Nursery:
    """The parent of all gateway processes; ``close`` ends it and whoever still lives."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.nursery"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def start(self, orders: Orders) -> int:
        """Start a gateway and return its process id."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(orders)) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End every process."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate(timeout=10)


class CrashHome(Household):
    """A home whose gateway is another process, one at a time."""

    def __init__(self, folder: Path, tg: TelegramEmulator, nursery: Nursery) -> None:
        super().__init__(folder, tg)
        self._folder = folder
        self._nursery = nursery
        self.pid = 0

    @property
    def gate(self) -> Path:
        """While it exists no agent answers."""
        return self._folder / "gate"

    async def start(self, **orders: Any) -> None:
        """Start the gateway with ``Orders`` and wait until it receives."""
        polls = len(self.tg.calls_of("getUpdates"))
        self.pid = self.launch(**orders)
        try:
            await self.tg.wait_for_calls("getUpdates", polls + 1, timeout=20)
        except TimeoutError:
            raise AssertionError(f"the gateway did not start:\n{self.log}") from None

    def launch(self, **orders: Any) -> int:
        """Start a gateway, whatever becomes of it, and return its process id."""
        return self._nursery.start(Orders(str(self._folder), **orders))

    async def kill(self) -> None:
        """Kill the gateway with SIGKILL and wait until it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        await self.gone()

    def end(self) -> None:
        """Kill the gateway if it still lives."""
        if self.pid and _alive(self.pid):
            os.kill(self.pid, signal.SIGKILL)

    def terminate(self) -> None:
        """Tell the gateway to stop."""
        os.kill(self.pid, signal.SIGTERM)

    async def gone(self, pid: int | None = None) -> None:
        """Wait until a process has ended: the gateway's, or another one."""
        gone = pid or self.pid
        await self.until(lambda: not _alive(gone), "the end of the process", timeout=20)

    async def held(self) -> None:
        """Wait until the process stands where it was told to."""
        await self.until((self._folder / "held").exists, "the held point", timeout=20)

    async def quiet(self, timeout: float = 20.0, *, memory: bool = True) -> None:
        """Wait until everything is taken, answered and delivered, and (or not) remembered."""
        beside = () if memory else BESIDE
        try:
            await self.until(lambda: self._is_quiet(beside), "quiet", timeout)
        except AssertionError as error:
            left = f"{len(self.tg.pending())} updates, {self.live()[:5]}"
            raise AssertionError(f"{error}: {left}\n{self.log}") from None

    def _is_quiet(self, beside: Collection[str]) -> bool:
        if self.tg.pending() or not self.home.database.exists():
            return False
        return all(lane in beside for lane, *_ in self.live())

    def record(self, name: str) -> list[dict[str, Any]]:
        """Return what the agent recorded over all processes: ``runs`` or ``steps``."""
        path = self._folder / name
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    async def ran(self, count: int) -> None:
        """Wait until the agent was called so often."""
        await self.until(lambda: len(self.record("runs")) >= count, f"{count} runs", timeout=20)

    @property
    def log(self) -> str:
        """The end of what the processes wrote to standard error."""
        path = self._folder / "log"
        return path.read_text()[-4000:] if path.exists() else ""


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
