"""One platform as the contract sees it: a person, a group, another bot, and what they all see."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from gateway.model.events import InboundEvent
    from gateway.model.outbound import Address
    from gateway.ports import Adapter
    from tests.contract.adapters.core import Core

_FENCED = re.compile(r"```[a-z]*\n?(.*?)```", re.DOTALL)


class Trait(StrEnum):
    """What only some platforms have, so that only they can be asked for it."""

    #: people besides the one at the keyboard, and bots
    USERS = "users"
    #: a message can be changed after it was sent
    EDITS = "edits"
    #: the platform repeats what it is not sure of
    REPEATS = "repeats"
    #: an answer to a send can be lost
    LOSSES = "losses"
    #: buttons under a message
    BUTTONS = "buttons"


@dataclass(frozen=True, slots=True)
class Shown:
    """One message of the bot as people see it."""

    text: str
    #: of ``text``, what stands in code blocks that are complete
    code: str
    #: in the units of the platform's own limit
    size: int
    #: it notifies somebody by its words
    pings: bool = False
    #: what the buttons under it say
    buttons: tuple[str, ...] = ()


class Rig(Protocol):
    """The tests' hands on one platform. State outside survives ``down`` and ``up``."""

    traits: frozenset[Trait]
    #: largest message that the platform itself takes, in the units of ``Shown.size``
    limit: int
    core: Core

    @property
    def adapter(self) -> Adapter:
        """The adapter that is up."""
        ...

    @property
    def address(self) -> Address:
        """Where an answer to the person goes."""
        ...

    async def up(self) -> None:
        """Start an adapter and wait until it is connected."""
        ...

    async def down(self) -> None:
        """Stop it, as the end of the process does."""
        ...

    async def say(self, text: str, *, group: bool = False) -> str:
        """Write as the person and return the message's id."""
        ...

    async def bot_says(self, text: str) -> None:
        """Another bot speaks to ours in the group."""
        ...

    async def edit(self, message: str, text: str) -> None:
        """Change what the person said to the bot alone."""
        ...

    async def duplicate(self) -> None:
        """Deliver once more what was said last to the bot alone."""
        ...

    def lose(self, *, file: bool = False) -> None:
        """Let the answer to the next send (of a file) get lost on its way back."""
        ...

    def refuse_file(self, *, large: bool) -> None:
        """Let the platform refuse the next file: for its size, or altogether."""
        ...

    def files(self) -> list[tuple[str, bytes]]:
        """Return (name, content) of the files that the bot sent to the person."""
        ...

    def click(self, label: str) -> None:
        """Press the newest button of that label, as the person."""
        ...

    async def heard_clicks(self) -> int:
        """Return how many presses the platform was told to be heard, once all are."""
        ...

    def remove(self) -> None:
        """Somebody deletes the bot's newest message."""
        ...

    def messages(self) -> list[Shown]:
        """Return what the bot wrote and nobody removed, in the group too."""
        ...

    def recorded(self) -> list[InboundEvent]:
        """Return the platform's recorded payloads as its parser reads them."""
        ...

    def untranslated(self) -> Iterable[type[Exception]]:
        """Return the library's exceptions that have no row in the table of errors."""
        ...


def fenced(text: str) -> str:
    """Return what stands in the complete code blocks of a text with backticks."""
    return "\n".join(_FENCED.findall(text))


async def until(condition: Callable[[], Any], timeout: float = 10.0) -> None:
    """Wait until ``condition()`` is true."""
    async with asyncio.timeout(timeout):
        while not condition():  # noqa: ASYNC110  (nothing here has an event to await)
            await asyncio.sleep(0.002)
