"""W6: the agent goes by its configured name, and the prompt opens with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gateway import app
from gateway.agent.prompt import Layout, Persona, compose
from gateway.cli.models import agent_name
from gateway.model.ids import TurnId
from gateway.ports import TurnRequest
from gateway.settings.home import Home

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("keys", "profile", "opening"),
    [
        ({}, None, "You are Hermes"),
        ({"aiPeer": "Iris"}, None, "You are Iris"),
        ({"hosts": {"hermes": {"aiPeer": "Iris"}}, "aiPeer": "Zeus"}, None, "You are Iris"),
        ({}, "work", "You are Hermes"),
        ({"aiPeer": "Iris"}, "work", "You are Iris"),
    ],
)
@pytest.mark.parametrize("small", [False, True])
def test_the_prompt_opens_with_the_agents_name(
    tmp_path: Path, keys: dict[str, Any], profile: str | None, opening: str, small: bool
) -> None:
    home = Home(tmp_path / "hermes", tmp_path / "user")
    home.path.mkdir()
    (home.path / "honcho.json").write_text(json.dumps(keys))
    name = agent_name(app.load(home, {}, profile=profile))
    persona = Persona(name=name, soul="You like brevity.")
    prompt = compose(TurnRequest(TurnId("t1"), ()), persona, Layout(small=small))
    assert prompt.instructions.startswith(opening)
