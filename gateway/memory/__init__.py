"""Memory: what is written to the memory service, and what is recalled from it."""

from __future__ import annotations

from gateway.memory.agents import AgentSession, open_session

__all__ = ["AgentSession", "open_session"]
