"""What a gateway process is started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gateway.ops.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gateway.ops import logs
    from gateway.ports import Agent, AgentTool, Clock, Completer, Embedder
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded


@dataclass(frozen=True, slots=True)
class Start:
    """What is to be started: one home's gateway, with or without platforms and console."""

    home: Home
    loaded: Loaded
    #: called once with the tools that the model may use
    make_agent: Callable[[Sequence[AgentTool]], Agent]
    #: called once each; None: there is none. The embedded memory thinks with them
    make_completer: Callable[[], Completer | None] = lambda: None
    make_embedder: Callable[[], Embedder | None] = lambda: None
    #: what the console's factory gets beside settings and clock; None: no console
    console: Mapping[str, Any] | None = None
    #: False: nothing but the console (``chat``)
    platforms: bool = True
    clock: Clock = field(default_factory=SystemClock)
    #: a new id, for ``sessionStrategy: per-session``
    fresh: str = ""
    describe_model: Callable[[], str] = lambda: ""
    #: the command line's commands with those below them, for the agent to name to whoever has it
    terminal: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: learns the secrets of an edited configuration; None: nobody logs
    redactor: logs.Redactor | None = None
