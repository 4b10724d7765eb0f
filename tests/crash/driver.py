"""A gateway in a process of its own, made to be killed: ``python -m tests.crash.driver HOME``.

The home is a ``Household``'s folder. The agent echoes what was said, line by line, and leaves
its trace in files beside the home, which also stop it: the test sees where the process stands
and kills it there, never after a guessed time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.telegram.adapter import TelegramAdapter
from gateway import app
from gateway.memory.honcho import HonchoMemory
from gateway.ops import logs
from gateway.pipeline.delivery import Delivery
from gateway.pipeline.intake import StoreIntake
from gateway.policy import crashes
from gateway.ports import Answer
from gateway.settings.home import Home

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.ports import StepLog, TurnRequest

#: what is said to an agent that takes the process down
DEADLY = "deadly"
#: steps that the agent commits one by one before it answers
STEPS = ("look", "think")

#: where the process can be made to stand still: class, method, and whether behind its work
POINTS: dict[str, tuple[type, str, bool]] = {
    "before-intake": (StoreIntake, "accept", False),
    "after-intake": (StoreIntake, "accept", True),
    "before-delivery": (Delivery, "handle", False),
    "before-send": (TelegramAdapter, "send", False),
    "after-send": (TelegramAdapter, "send", True),
    "before-memory": (HonchoMemory, "add", False),
    "after-memory": (HonchoMemory, "add", True),
}


@dataclass(frozen=True, slots=True)
class Orders:
    """How one gateway is to run."""

    home: str
    #: seconds that an answer takes
    delay: float = 0.0
    #: one of ``POINTS``, reached once, or ""
    hold: str = ""
    #: crashes after which an item is given up
    crashes: int = crashes.MOST
    #: the process ends by itself after so long, whatever became of its test
    max_seconds: int = 120


class FileAgent:
    """Echoes; ``runs`` and ``steps`` record what it did, ``gate`` holds it while it exists."""

    def __init__(self, folder: Path, delay: float) -> None:
        self._folder = folder
        self._delay = delay

    async def run(
        self,
        request: TurnRequest,
        *,
        steps: StepLog,
        emit: Callable[[str], None],
        stop: asyncio.Event,
    ) -> Answer:
        """See ``gateway.ports.Agent``."""
        texts = [spoken.text for spoken in request.spoken]
        found = await steps.load()
        self._record("runs", turn=request.turn, texts=texts, found=found)
        for step in STEPS[len(found) :]:
            self._record("steps", turn=request.turn, step=step)
            await steps.append(step)
        if DEADLY in texts:
            os.kill(os.getpid(), signal.SIGKILL)
        while (self._folder / "gate").exists():  # noqa: ASYNC110  (another process opens it)
            await asyncio.sleep(0.01)
        await asyncio.sleep(self._delay)
        return Answer("\n".join(texts))

    async def aclose(self) -> None:
        """See ``gateway.ports.Agent``."""

    def _record(self, name: str, **facts: Any) -> None:
        with (self._folder / name).open("a") as file:
            file.write(json.dumps(facts) + "\n")


def hold(folder: Path, point: str) -> None:
    """Let the process stand still for ever where ``point`` says, and tell by the file ``held``."""
    owner, name, behind = POINTS[point]
    original = getattr(owner, name)

    async def held(*args: Any) -> Any:
        if behind:
            await original(*args)
        (folder / "held").touch()
        await asyncio.Event().wait()

    setattr(owner, name, held)


async def serve(orders: Orders) -> None:
    """Run a gateway until SIGTERM."""
    folder = Path(orders.home)
    if orders.hold:
        hold(folder, orders.hold)
    crashes.MOST = orders.crashes
    home = Home(folder / "hermes", folder / "user")
    loaded = app.load(home, {})
    logs.configure(loaded.settings.log, logs.secrets_of(loaded))
    agent = FileAgent(folder, orders.delay)
    gateway = app.assemble(app.Start(home, loaded, lambda _tools: agent))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await gateway.run(stop)


def main(orders: Orders) -> None:
    """Be one gateway process."""
    signal.alarm(orders.max_seconds)
    os.environ.pop("HERMES_HOME", None)
    asyncio.run(serve(orders))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.crash.driver")
    parser.add_argument("home")
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--hold", choices=POINTS, default="")
    parser.add_argument("--crashes", type=int, default=crashes.MOST)
    parser.add_argument("--max-seconds", type=int, default=120)
    main(Orders(**vars(parser.parse_args())))
