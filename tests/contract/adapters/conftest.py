"""One rig for each test and platform, which is down when the test ends."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

with warnings.catch_warnings():
    # discord.py imports audioop, for voice that nobody uses
    warnings.simplefilter("ignore", DeprecationWarning)
    import discord as _library  # noqa: F401  (imported once, before any test module)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.contract.adapters.rig import Rig


@pytest.fixture
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    async with request.param() as made:
        try:
            yield made
        finally:
            await made.core.answered()
            await made.down()
