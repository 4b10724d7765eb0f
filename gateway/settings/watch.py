"""Tell when a settings file really has another content."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from watchfiles import awatch

from gateway.settings.files import MISSING, digest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from pathlib import Path

#: milliseconds without a further change before the files are looked at
_QUIET = 200
#: milliseconds after which they are looked at anyway: not every file system tells, and nothing
#: tells of a change in the moment before the watch stands
_LOOK_AGAIN = 1_000


async def watch(
    paths: Iterable[Path],
    on_change: Callable[[], Awaitable[None]],
    *,
    known: Mapping[Path, str] | None = None,
) -> None:
    """Call ``on_change`` after each change of content, until cancelled.

    ``known`` are the digests of what the caller has read, so that a change between that reading
    and this call is not missed. Files may be missing, appear, vanish, be replaced by a rename
    or be links. A change during ``on_change`` leads to another call.
    """
    watched = tuple(paths)
    seen = dict(known) if known is not None else await asyncio.to_thread(_digests, watched)
    while True:
        folders = _folders(watched)
        with contextlib.suppress(
            FileNotFoundError
        ):  # a folder went away: look for those there are
            async for _ in awatch(
                *folders,
                watch_filter=None,
                recursive=False,
                debounce=_QUIET,
                step=_QUIET // 4,
                rust_timeout=_LOOK_AGAIN,
                yield_on_timeout=True,
            ):
                now = await asyncio.to_thread(_digests, watched)
                if now != {path: seen.get(path, MISSING) for path in watched}:
                    seen = now
                    await on_change()
                if _folders(watched) != folders:
                    break


def _digests(paths: Iterable[Path]) -> dict[Path, str]:
    return {path: digest(path) for path in paths}


def _folders(paths: Iterable[Path]) -> set[Path]:
    """Return the folders in which a change of the files shows, nearest existing ones."""
    folders = set()
    for path in (*paths, *(path.resolve() for path in paths)):
        folders.add(next(folder for folder in path.parents if folder.is_dir()))
    return folders
