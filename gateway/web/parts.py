"""What the page stands on: parts of the running gateway, handed in by the composition root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from gateway.memory.files import MemoryFiles
    from gateway.memory.honcho import HonchoMemory
    from gateway.people import People, Rehoming
    from gateway.pipeline.deliveries import DeliveryDesk
    from gateway.pipeline.linking import Linking
    from gateway.pipeline.pairing import Pairing
    from gateway.pipeline.post import Post
    from gateway.pipeline.rules import Current
    from gateway.ports import Adapter, Clock
    from gateway.settings.home import Home
    from gateway.settings.schema import Settings
    from gateway.store.engine import Store
    from gateway.web.doors import Doors


@dataclass(frozen=True, slots=True)
class Checked:
    """What reading the configuration anew came to."""

    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    unused: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that a request may need."""

    store: Store
    clock: Clock
    home: Home
    doors: Doors
    current: Current
    #: as they were at the start: address, zone, provider
    settings: Settings
    pairing: Pairing
    deliveries: DeliveryDesk
    post: Post
    files: MemoryFiles
    #: None where memory is switched off
    memory: HonchoMemory | None
    adapters: Sequence[Adapter]
    #: reads the configuration as the next start would
    check: Callable[[], Checked]
    #: who is who
    people: People
    #: lets memory follow
    rehoming: Rehoming
    #: accounts that their own people join
    linking: Linking
    #: whether an operator may be shown what people wrote (``web.reveal``)
    reveals: Callable[[], bool]
    started: datetime
