"""The folder of files: each written privately and whole, looked into, cleared. Mostly blocking."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.model.errors import PlatformError
from gateway.model.files import AttachedFile, FileProblem
from gateway.policy.files import IMAGES, TEXT_LIMIT, image_type, is_speech, read_text
from gateway.settings.home import make_private_folder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable
    from pathlib import Path
    from typing import BinaryIO

    from gateway.store.files import StoredFile

#: a character of UTF-8 takes four bytes at most
_MOST_BYTES = 4 * TEXT_LIMIT


@dataclass(frozen=True, slots=True)
class Found:
    """What a file turned out to be."""

    mime: str
    size: int
    #: a picture or text
    readable: bool


def transcript(path: Path) -> Path:
    """Return where the words of a recording stand."""
    return path.with_suffix(".txt")


async def keep(pieces: AsyncGenerator[bytes, None], path: Path, *, limit: int) -> None:
    """Write a file; it stands under its name only when it is whole.

    Raises ``PlatformError`` (``too_large``) behind ``limit`` bytes, and ``OSError``.
    """
    part = path.with_suffix(".part")
    file = await asyncio.to_thread(_create, part)
    try:
        with file:
            async with aclosing(pieces):
                await _pour(pieces, file, limit)
        await asyncio.to_thread(part.replace, path)
    finally:
        _discard(part)


async def _pour(pieces: AsyncGenerator[bytes, None], file: BinaryIO, limit: int) -> None:
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > limit:
            raise PlatformError("the file is larger than it may be", code="too_large")
        file.write(piece)


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)


def write(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all."""
    part = path.with_suffix(".part")
    with _create(part) as file:
        file.write(data)
    part.replace(path)


def read(path: Path) -> str:
    """Return what ``write`` wrote of a text."""
    return path.read_text("utf-8")


def examine(path: Path, mime: str) -> Found:
    """Look into a file; ``mime`` is what its sender said that it is."""
    size, data = _beginning(path)
    if image := image_type(data):
        return Found(image, size, readable=True)
    if read_text(data, whole=size == len(data)) is None:
        return Found(mime, size, readable=False)
    pretends = not mime or mime in IMAGES
    return Found("text/plain" if pretends else mime, size, readable=True)


def attached(folder: Path, file: StoredFile) -> AttachedFile:
    """Return a stored file with what it says."""
    path = folder / file.name
    held = AttachedFile(file.kind, file.label, file.mime, file.size)
    if file.problem is not None or not path.exists():
        return replace(held, problem=file.problem or FileProblem.GONE)
    if is_speech(file.kind, file.mime):
        return replace(held, path=path, text=read(transcript(path)))
    if file.mime in IMAGES:
        return replace(held, path=path)
    size, data = _beginning(path)
    text = read_text(data, whole=size == len(data)) or ""
    cut = size > len(data) or len(text) == TEXT_LIMIT
    return replace(held, path=path, text=text, cut=cut)


def clear(folder: Path, names: Iterable[str]) -> None:
    """Delete files with all that stands beside them; those that are gone are no fault."""
    for name in names:
        path = folder / name
        for each in (path, transcript(path), path.with_suffix(".part")):
            each.unlink(missing_ok=True)


def _create(path: Path) -> BinaryIO:
    """Open a file of our own name for writing, for its owner alone."""
    make_private_folder(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.fdopen(os.open(path, flags, 0o600), "wb")


def _beginning(path: Path) -> tuple[int, bytes]:
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES)
        return os.fstat(file.fileno()).st_size, data
