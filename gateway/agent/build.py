"""The agent for a choice of model. Loads the model library only where a model was chosen."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gateway.agent.choice import Kind, fallbacks
from gateway.agent.setup_reply import SetupAgent
from gateway.policy.thinking import can_think

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.agent.choice import Choice
    from gateway.agent.prompt import Persona
    from gateway.ports import Agent, AgentTool, Completer
    from gateway.settings.schema import ModelSettings

#: names of this machine
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})


def build_agent(
    choice: Choice,
    settings: ModelSettings,
    secrets: Mapping[str, str],
    persona: Persona,
    *,
    tools: Sequence[AgentTool] = (),
    language: str = "auto",
) -> Agent:
    """Return the agent; nothing is connected or started before its first turn.

    A small local model gets no tools. Raises ``ConfigurationError`` for a fallback that cannot
    work.
    """
    others = fallbacks(choice, settings, secrets)
    if choice.kind is Kind.SETUP:
        return SetupAgent(language)
    # the library would print an advertisement into the first conversation on a terminal
    os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")
    # the imports take a second, which not every command should pay
    from gateway.agent import handing, small
    from gateway.agent.local import LocalServer
    from gateway.agent.models import HostedModels, LocalModel
    from gateway.agent.prompt import Layout
    from gateway.agent.run import Limits, ModelAgent
    from gateway.agent.tools import adapt

    limits = Limits(requests=settings.request_limit, timeout=settings.timeout)
    if choice.weights is not None:
        return ModelAgent(
            LocalModel(LocalServer(choice.weights)),
            persona,
            layout=small.layout(settings.max_history_tokens, name=persona.name),
            limits=limits,
            settings=small.SETTINGS,
        )
    return ModelAgent(
        HostedModels([choice, *others], secrets),
        persona,
        layout=Layout(history_tokens=settings.max_history_tokens),
        limits=limits,
        tools=adapt([*tools, handing.tool()]),
    )


def build_completer(
    choice: Choice, settings: ModelSettings, secrets: Mapping[str, str]
) -> Completer | None:
    """Return what the memory service may think with; None: nothing that can be trusted to.

    Local weights are too small, and so is whatever says so in its name. Nothing is connected
    yet. Raises ``ConfigurationError`` for a fallback that cannot work.
    """
    others = fallbacks(choice, settings, secrets)
    if choice.kind in (Kind.SETUP, Kind.LOCAL) or not can_think(choice.name):
        return None
    os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")
    from gateway.agent.complete import ModelCompleter
    from gateway.agent.models import HostedModels

    capable = [choice, *(one for one in others if can_think(one.name))]
    host = urlsplit(choice.base_url or "").hostname
    return ModelCompleter(
        HostedModels(capable, secrets),
        choice.label,
        shares_machine=host in LOOPBACK_HOSTS,
        timeout=settings.timeout,
    )
