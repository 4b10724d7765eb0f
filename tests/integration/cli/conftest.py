"""An empty home for each command that is tried on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway.settings.home import Home

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home in which nothing has happened, and its user's folder."""
    place = Home(tmp_path / "hermes", tmp_path / "user")
    place.gateway.mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("HERMES_HOME", str(place.path))
    monkeypatch.setenv("HOME", str(place.user))
    return place
