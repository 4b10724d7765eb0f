"""A change of content is told, however the editor makes it; anything else is not."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING

import pytest

from gateway.settings import watch as watching
from gateway.settings.files import digest
from gateway.settings.watch import watch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path


class Told:
    """Counts calls; a test waits for the next one."""

    def __init__(self) -> None:
        self.count = 0
        self._news = asyncio.Event()

    async def __call__(self) -> None:
        self.count += 1
        self._news.set()

    async def next(self) -> None:
        async with asyncio.timeout(20):
            await self._news.wait()
        self._news.clear()


@contextlib.asynccontextmanager
async def told_of(*paths: Path) -> AsyncIterator[Told]:
    told = Told()
    task = asyncio.create_task(watch(paths, told, known={path: digest(path) for path in paths}))
    try:
        yield told
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_QUIET", 20)
    monkeypatch.setattr(watching, "_LOOK_AGAIN", 200)


def _in_place(path: Path, text: str) -> None:
    path.write_text(text)


def _by_rename(path: Path, text: str) -> None:
    other = path.with_suffix(".new")
    other.write_text(text)
    os.replace(other, path)


def _by_removal(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text)


@pytest.mark.parametrize("save", [_in_place, _by_rename, _by_removal])
async def test_each_way_of_saving_is_seen_twice(
    tmp_path: Path, save: Callable[[Path, str], None]
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("a: 1\n")
    async with told_of(path) as told:
        save(path, "a: 2\n")
        await told.next()
        save(path, "a: 3\n")
        await told.next()
    assert told.count >= 2


async def test_file_and_folder_that_do_not_exist_yet(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "config.json"
    async with told_of(path) as told:
        path.parent.mkdir(parents=True)
        path.write_text("{}")
        await told.next()
        path.unlink()
        await told.next()
    assert told.count >= 2


async def test_target_of_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "c.yaml").write_text("a: 1\n")
    link = tmp_path / "config.yaml"
    link.symlink_to(real / "c.yaml")
    async with told_of(link) as told:
        _by_rename(real / "c.yaml", "a: 2\n")
        await told.next()
    assert told.count == 1


async def test_same_content_and_other_files_are_no_news(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("a: 1\n")
    async with told_of(path) as told:
        path.write_text("a: 1\n")
        os.utime(path)
        (tmp_path / "other").write_text("x")
        _by_rename(path, "a: 1\n")
        _in_place(path, "a: 2\n")
        await told.next()
    assert told.count == 1


async def test_change_before_watching_is_not_missed(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    told = Told()
    path.write_text("a: 2\n")
    task = asyncio.create_task(watch([path], told, known={path: "what was read"}))
    await told.next()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert told.count == 1
