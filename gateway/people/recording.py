"""A change of the identity keys, noted before the file is written and confirmed afterwards."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from gateway.store import audit, identity_changes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from gateway.policy.identity_change import Path, Value
    from gateway.ports import Clock
    from gateway.store.engine import Store, Tx
    from gateway.store.identity_changes import Author, Record

log = structlog.get_logger(__name__)


@asynccontextmanager
async def recorded(
    store: Store,
    clock: Clock,
    keys: tuple[Mapping[Path, Value], Mapping[Path, Value]],
    author: Author,
    *,
    undoes: int | None = None,
) -> AsyncIterator[int]:
    """Write the file inside the block; yields the change's id. ``keys``: before and after.

    A block that raises leaves nothing in the history.
    """
    before, after = keys
    now = clock.now()
    id_ = await store.write(
        lambda tx: identity_changes.begin(tx, before, after, author, undoes=undoes, now=now)
    )
    try:
        yield id_
    except BaseException:
        await store.write(lambda tx: identity_changes.abandon(tx, id_))
        raise

    def confirm(tx: Tx) -> None:
        identity_changes.confirm(tx, id_, after, now=now)
        record = identity_changes.find(tx.conn, id_)
        if record is not None:
            note(tx, record)

    await store.write(confirm)
    log.info("identity.changed", action="people", change=id_, actor=author.actor)


def note(tx: Tx, record: Record) -> None:
    """Audit that a change was made; whose accounts it names stands in the history alone."""
    audit.record(
        tx,
        "identity.undone" if record.undoes is not None else "identity.changed",
        actor=record.actor,
        now=record.at,
        change=record.id,
        reason=record.reason,
        keys=sorted({edit.path[0] for edit in record.edits}),
    )
