"""One home with a database and memory files, and what the model calls on them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gateway.memory.files import FileRules, MemoryFiles
from gateway.memory.notes import Approvals, NotesTool
from gateway.memory.snapshot import Snapshots
from gateway.model.ids import PeerId, SessionId, TurnId
from gateway.policy.audience import Audience
from gateway.ports import Asker, TurnRequest
from gateway.settings.home import Home
from tests.fakes.clock import FakeClock

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.store.approvals import Staged
    from gateway.store.engine import Store, Tx

MIRA, TOBIAS = PeerId("mira"), PeerId("tobias")


def asking(
    peer: PeerId = MIRA, audience: Audience = Audience.PERSONAL, session: str = "s1"
) -> TurnRequest:
    """Return a turn of somebody's."""
    return TurnRequest(TurnId("t1"), (), asker=Asker(peer, SessionId(session), audience))


@dataclass
class Notebook:
    """The files of a home whose owner is Mira."""

    folder: Path
    store: Store
    rules: FileRules = field(default_factory=lambda: FileRules(owner=MIRA))
    asked: list[Staged] = field(default_factory=list)
    reachable: bool = True

    def __post_init__(self) -> None:
        self.home = Home(self.folder, self.folder)
        self.clock = FakeClock()
        self.files = MemoryFiles(self.home, lambda: self.rules)
        self.tool = NotesTool(self.files, self.store, self.clock, self._ask).build()
        self.approvals = Approvals(self.files, self.store, self.clock)
        self.snapshots = Snapshots(self.files, self.store, self.clock)

    def _ask(self, _tx: Tx, _request: TurnRequest, staged: Staged) -> bool:
        self.asked.append(staged)
        return self.reachable

    def set(self, **changes: Any) -> None:
        """Change the configuration."""
        self.rules = replace(self.rules, **changes)

    async def call(self, request: TurnRequest | None = None, /, **arguments: str) -> Any:
        """Call the tool and return its answer."""
        return json.loads(await self.tool.call(request or asking(), arguments))

    async def add(
        self, content: str, target: str = "memory", *, request: TurnRequest | None = None
    ) -> Any:
        """Add an entry by the tool."""
        return await self.call(request, action="add", target=target, content=content)

    async def frozen(self, request: TurnRequest | None = None) -> str:
        """Return the block of a turn's prompt."""
        return await self.snapshots.for_turn(self.store.write, (request or asking()).asker)

    def text(self, file: str = "MEMORY.md") -> str:
        """Return what the owner's file says, "" where there is none."""
        path = self.home.memories / file
        return path.read_text() if path.exists() else ""
