"""Pictures of a turn as the model library takes them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic_ai.messages import BinaryContent

from gateway.model.errors import AgentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model.files import AttachedFile


async def load(pictures: Sequence[AttachedFile]) -> list[BinaryContent]:
    """Read the pictures. Raises ``AgentError`` where one is not there any more."""
    return [await asyncio.to_thread(_load, picture) for picture in pictures]


def _load(picture: AttachedFile) -> BinaryContent:
    try:
        data = b"" if picture.path is None else Path(picture.path).read_bytes()
    except OSError as error:
        raise AgentError(
            f"a picture cannot be read: {error.strerror}",
            code="picture_lost",
            user_text="failed.internal",
        ) from None
    return BinaryContent(data, media_type=picture.mime)
