"""What the next start would say of the configuration."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gateway.web.shapes import SettingsView

if TYPE_CHECKING:
    from gateway.web.parts import Parts


async def view(parts: Parts) -> SettingsView:
    """Return the findings of ``config check``."""
    checked = await asyncio.to_thread(parts.check)
    return SettingsView(
        ok=not checked.problems,
        problems=list(checked.problems),
        warnings=list(checked.warnings),
        unused=list(checked.unused),
        files=list(checked.files),
    )
