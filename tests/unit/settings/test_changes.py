"""Which settings an edit changed: names, never values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gateway import app
from gateway.settings.changes import changed
from gateway.settings.home import Home

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.settings.read import Loaded


def _loaded(place: Home, config: Any = None, honcho: Any = None, env: str = "") -> Loaded:
    place.path.mkdir(exist_ok=True)
    place.config.write_text(json.dumps(config or {}))
    (place.path / "honcho.json").write_text(json.dumps(honcho or {}))
    place.env.write_text(env)
    return app.load(place, {})


@pytest.mark.parametrize(
    ("after", "names"),
    [
        ({}, []),
        ({"config": {"language": "ru"}}, ["language"]),
        ({"config": {"access": {"pairing": False}}}, ["access.pairing"]),
        ({"config": {"access": {"allow": {"telegram": ["42"]}}}}, ["access.allow.telegram"]),
        ({"config": {"platforms": {"slack": {"mode": "http"}}}}, ["platforms.slack.mode"]),
        ({"honcho": {"userPeerAliases": {"42": "mira"}}}, ["honcho.userPeerAliases"]),
        (
            {"honcho": {"pinUserPeer": True, "peerName": "mira"}},
            ["honcho.peerName", "honcho.pinUserPeer"],
        ),
        (
            {"honcho": {"observation": {"user": {"observeMe": False}}}},
            ["honcho.observation.user.observeMe"],
        ),
        ({"env": "OPENAI_API_KEY=sk-invented\n"}, ["env.OPENAI_API_KEY"]),
    ],
)
def test_what_differs_is_named(tmp_path: Path, after: dict[str, Any], names: list[str]) -> None:
    place = Home(tmp_path / "hermes", tmp_path)
    before = _loaded(place)
    found = changed(before, _loaded(place, **after))
    assert found == names
    assert "sk-invented" not in str(found)
