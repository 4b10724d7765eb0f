"""A fresh home for each test."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  (pytest reads it at run time)

import pytest

from tests.unit.settings.homes import Homes


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    return Homes(tmp_path)
