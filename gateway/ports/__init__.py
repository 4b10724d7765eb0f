"""Protocols between the durable core and everything that may be exchanged.

The core calls ``Adapter`` and ``Agent``; adapters call ``Intake``. Implementations may raise
``GatewayError`` only: foreign exceptions are translated where the foreign library is used.
"""

from gateway.ports.agent import (
    Agent,
    AgentTool,
    Answer,
    Asker,
    HistoryMessage,
    Spoken,
    StepLog,
    Transcriber,
    TurnRequest,
)
from gateway.ports.clock import (
    Clock,
)
from gateway.ports.memory import (
    Memory,
)
from gateway.ports.platform import (
    Adapter,
    AdapterStatus,
    ConnectionState,
    Cursor,
    Intake,
    Manifest,
    Preview,
    Received,
)
from gateway.ports.thinking import (
    Completer,
    Embedder,
    Prompt,
    Usage,
)

__all__ = [
    "Adapter",
    "AdapterStatus",
    "Agent",
    "AgentTool",
    "Answer",
    "Asker",
    "Clock",
    "Completer",
    "ConnectionState",
    "Cursor",
    "Embedder",
    "HistoryMessage",
    "Intake",
    "Manifest",
    "Memory",
    "Preview",
    "Prompt",
    "Received",
    "Spoken",
    "StepLog",
    "Transcriber",
    "TurnRequest",
    "Usage",
]
