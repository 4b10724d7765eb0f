"""Which model answers for a command, and the agent on it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gateway.agent.build import build_agent, build_completer
from gateway.agent.choice import choose
from gateway.agent.embed import open_embedder
from gateway.agent.prompt import Persona
from gateway.agent.weights import WeightStore, default_folder
from gateway.model.errors import ConfigurationError
from gateway.ops.doctor import Finding, Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.agent.choice import Choice
    from gateway.ports import Agent, AgentTool, Completer, Embedder
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded


def weights() -> WeightStore:
    """Return the local models of this machine."""
    return WeightStore(default_folder())


def model_choice(loaded: Loaded) -> Choice:
    """Return which model would answer now, and why. Raises ``ConfigurationError``."""
    return asyncio.run(choose(loaded.settings.model, loaded.secrets, weights()))


def make_agent(home: Home, loaded: Loaded, choice: Choice, tools: Sequence[AgentTool]) -> Agent:
    """Build the agent for a choice of model. Raises ``ConfigurationError``."""
    soul = home.soul.read_text(encoding="utf-8") if home.soul.is_file() else ""
    return build_agent(
        choice,
        loaded.settings.model,
        loaded.secrets,
        Persona(name=agent_name(loaded), soul=soul),
        tools=tools,
        language=loaded.settings.language,
    )


def make_completer(loaded: Loaded, choice: Choice) -> Completer | None:
    """Return what the memory may think with, None where rules have to do. See ``make_agent``."""
    return build_completer(choice, loaded.settings.model, loaded.secrets)


def make_embedder(loaded: Loaded) -> Embedder | None:
    """Return what finds texts by their meaning, None where words have to do."""
    return open_embedder(loaded.settings.embeddings, loaded.secrets)


def agent_name(loaded: Loaded) -> str:
    """Return the name the agent goes by: Hermes, unless aiPeer says another."""
    peer = loaded.honcho.ai_peer
    return "Hermes" if peer == loaded.honcho.host else peer


def model_findings(loaded: Loaded) -> list[Finding]:
    """Return what ``doctor`` says of the model."""
    try:
        choice = model_choice(loaded)
    except ConfigurationError as error:
        return [Finding(Level.ERROR, "model", line) for line in error.problems]
    if choice.answers:
        return [Finding(Level.OK, "model", "; ".join(choice.describe()))]
    told = "; ".join((*choice.describe(), "hermes-gateway setup chooses one"))
    return [Finding(Level.WARNING, "model", told)]
