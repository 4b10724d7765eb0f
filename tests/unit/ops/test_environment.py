"""Another product in the same environment: said by name, with what to do."""

from __future__ import annotations

from importlib import metadata

import pytest

from gateway.ops.environment import OURS, package_clash


@pytest.mark.parametrize(
    ("packages", "named"),
    [
        ({"gateway": [OURS], "adapters": [OURS]}, None),
        ({}, None),
        ({"gateway": ["hermes-agent", OURS]}, "hermes-agent"),
        ({"gateway": ["hermes-agent"]}, "hermes-agent"),
        ({"adapters": ["other", OURS], "gateway": [OURS, "hermes-agent"]}, "hermes-agent, other"),
    ],
)
def test_a_clash_names_the_other_product(
    monkeypatch: pytest.MonkeyPatch, packages: dict[str, list[str]], named: str | None
) -> None:
    monkeypatch.setattr(metadata, "packages_distributions", lambda: packages)
    clash = package_clash()
    if named is None:
        assert clash is None
    else:
        assert clash is not None
        assert clash.startswith(f"{named} shares this Python environment")
        assert "environment of its own" in clash


def test_this_environment_is_clean() -> None:
    assert package_clash() is None
