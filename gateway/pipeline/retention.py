"""Retention: what has served its purpose goes, in small batches between the messages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from gateway.mailbox import items
from gateway.model.errors import GatewayError
from gateway.pipeline import cabinet
from gateway.store import audit, files, inbox, outdated, questions, settled

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta
    from pathlib import Path

    from gateway.ports import Clock
    from gateway.settings.schema import RetentionSettings
    from gateway.store.engine import Store, Tx

log = structlog.get_logger(__name__)

INTERVAL = 3600.0
BATCH = 1000
#: turns whose ways go in one transaction: each has many steps
_TURNS = 100
#: messages whose words go in one transaction: each is taken out of the index by its words
_TEXTS = 200
#: free pages that are given back to the disk in one transaction
_PAGES = 500


async def sweep(
    store: Store, clock: Clock, settings: RetentionSettings, folder: Path
) -> dict[str, int]:
    """Drop what is older than ``settings`` allow; return how much of what.

    Finished mailbox items go, the ways of turns that ended and delivered parts, answered
    questions, old rows of the audit, raw payloads, and the files in ``folder`` that came with
    them; and the words of messages, where they are not kept for ever. Inbox keys stay, they are
    the dedupe memory.
    """
    now = clock.now()
    dropped = {
        "items": await _drop(store, now, settings.done, items.forget_done),
        "turns": await _drop(store, now, settings.done, settled.forget_ways, batch=_TURNS),
        "parts": await _drop(store, now, settings.done, settled.forget_delivered),
        "questions": await _drop(store, now, settings.done, questions.forget_answered),
        "texts": await _drop(store, now, settings.text, outdated.forget_texts, batch=_TEXTS),
        "audit": await _drop(store, now, settings.audit, audit.forget),
        "raw": await _drop(store, now, settings.raw, inbox.drop_raw),
        "files": await _drop_files(store, now, settings.raw, folder),
    }
    await _give_back(store)
    return dropped


async def _give_back(store: Store) -> None:
    """Let the file shrink by what was dropped, a piece at a time."""
    left = await store.write(lambda tx: settled.give_back(tx, pages=_PAGES))
    while left:
        before, left = left, await store.write(lambda tx: settled.give_back(tx, pages=_PAGES))
        if left >= before:
            return


async def _drop(
    store: Store,
    now: datetime,
    keep: timedelta | None,
    drop: Callable[..., int],
    *,
    batch: int = BATCH,
) -> int:
    if keep is None:
        return 0

    def some(tx: Tx) -> int:
        return drop(tx, before=now - keep, limit=batch)

    total = dropped = await store.write(some)
    while dropped == batch:
        dropped = await store.write(some)
        total += dropped
    return total


async def _drop_files(store: Store, now: datetime, keep: timedelta | None, folder: Path) -> int:
    if keep is None:
        return 0
    total = dropped = await _drop_some_files(store, now - keep, folder)
    while dropped == BATCH:
        dropped = await _drop_some_files(store, now - keep, folder)
        total += dropped
    return total


async def _drop_some_files(store: Store, before: datetime, folder: Path) -> int:
    """Delete files first and then say so: a crash in between deletes them once more."""
    old = await store.read(lambda conn: files.outdated(conn, before=before, limit=BATCH))
    await asyncio.to_thread(cabinet.clear, folder, [name for _, name in old])
    await store.write(lambda tx: files.drop(tx, [id_ for id_, _ in old]))
    return len(old)


async def run(store: Store, clock: Clock, settings: RetentionSettings, folder: Path) -> None:
    """Sweep once an hour until cancelled."""
    while True:
        try:
            dropped = await sweep(store, clock, settings, folder)
            log.info("retention.swept", action="retention", **dropped)
        except GatewayError as error:
            log.warning("retention.failed", action="retention", error=str(error))
        await clock.sleep(INTERVAL)
