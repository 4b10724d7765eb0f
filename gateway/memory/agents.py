"""Sessions of sub-agents: the agent that was sent works in them, its parent listens in silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model.errors import MemoryRejectedError
from gateway.model.ids import PeerId, SessionId, sortable_id
from gateway.model.memory import Observation
from gateway.policy import naming

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.ports import Memory

#: an agent that works is observed and observes; its parent only observes
WORKING, SILENT = Observation(True, True), Observation(False, True)


@dataclass(frozen=True, slots=True)
class AgentSession:
    """A session of a sub-agent, open at the service."""

    session: SessionId
    agent: PeerId
    parent: PeerId


async def open_session(
    memory: Memory, *, agent: str, parent: str, session: SessionId | None = None
) -> AgentSession:
    """Open a session for ``agent`` in which ``parent`` observes and is not observed.

    Both are names of agents as the workspace knows them; a new ``agent`` is added with a peer of
    its own. ``session`` opens one again, with the same agents. Raises ``MemoryServiceError``;
    ``MemoryRejectedError`` for a parent that the workspace does not know.
    """
    known = await memory.agents()
    if parent not in known:
        raise MemoryRejectedError(
            f"there is no agent {parent!r} in this workspace; there are: "
            f"{', '.join(sorted(known)) or 'none'}"
        )
    peer = known.get(agent) or _peer_of(agent, known)
    if peer == known[parent]:
        raise MemoryRejectedError(f"{agent!r} and {parent!r} are one agent")
    await memory.register_agent(agent, peer)
    name = session or SessionId(f"subagent-{peer[:60]}-{sortable_id('s')}")
    await memory.open_session(name, {peer: WORKING, known[parent]: SILENT})
    return AgentSession(name, peer, known[parent])


def _peer_of(agent: str, known: Mapping[str, PeerId]) -> PeerId:
    """Return a peer for a new agent that no other agent has."""
    original = f"agent-{agent}"
    held = {peer: name for name, peer in known.items()}
    return PeerId(naming.assign(original, lambda name: held.get(PeerId(name))))
