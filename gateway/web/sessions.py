"""Conversations and their memory sessions, and sessions for sub-agents."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from gateway.memory import agents
from gateway.model.errors import GatewayError, MemoryUnavailableError
from gateway.store import audit, members, sessions
from gateway.web.shapes import MemberView, SessionDetail, SessionView, SubAgentSession

if TYPE_CHECKING:
    from gateway.store.engine import Connection
    from gateway.web.doors import Visitor
    from gateway.web.parts import Parts
    from gateway.web.shapes import SubAgent

#: sessions that one answer holds
MOST = 200


class UnknownSessionError(GatewayError):
    """There is no such session."""

    code = "unknown_session"


async def view(parts: Parts, *, having: str = "") -> list[SessionView]:
    """Return the newest memory sessions."""
    found = await parts.store.read(lambda conn: sessions.listed(conn, having=having, limit=MOST))
    return [SessionView(**asdict(one)) for one in found]


async def detail(parts: Parts, name: str) -> SessionDetail:
    """Return one session with its members. Raises ``UnknownSessionError``."""

    def look(conn: Connection) -> SessionDetail:
        found = next((one for one in sessions.listed(conn, of=name) if one.session == name), None)
        if found is None:
            raise UnknownSessionError
        flags = members.of(conn, found.session)
        people = [MemberView(peer=peer, **asdict(each)) for peer, each in flags.items()]
        return SessionDetail(**asdict(found), members=people)

    return await parts.store.read(look)


async def open_for_agent(parts: Parts, visitor: Visitor, wish: SubAgent) -> SubAgentSession:
    """Open a session for a sub-agent. Raises ``MemoryServiceError``."""
    if parts.memory is None:
        raise MemoryUnavailableError("memory is switched off")
    opened = await agents.open_session(parts.memory, agent=wish.agent, parent=wish.parent)
    now = parts.clock.now()
    told = {"subject": f"session:{opened.session}", "agent": opened.agent}
    await parts.store.write(
        lambda tx: audit.record(tx, "session.opened", actor=visitor.name, now=now, **told)
    )
    return SubAgentSession(session=opened.session, agent=opened.agent, parent=opened.parent)
