"""Keeps an eye on the audit: is the chain whole, are rows written? Says so to who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog

from gateway.model.errors import GatewayError
from gateway.store import audit, facts

if TYPE_CHECKING:
    from gateway.policy.chain import Point
    from gateway.ports import Clock
    from gateway.store.engine import Connection, Store

log = structlog.get_logger(__name__)

#: seconds between two looks at the rows that came since the last one
INTERVAL = 60.0
#: name of the fact that holds what is wrong with the audit; there is none when nothing is
TROUBLE = "audit.trouble"


async def run(store: Store, clock: Clock) -> None:
    """Check the chain from its beginning, then what is added to it, until cancelled."""
    since: Point | None = None
    while True:
        since = await look(store, clock, since)
        await clock.sleep(INTERVAL)


async def look(store: Store, clock: Clock, since: Point | None) -> Point | None:
    """Check the rows behind ``since`` and keep what is wrong; return where to go on."""
    try:
        verdict = await store.read(lambda conn: audit.check(conn, since))
        unwritten = audit.failures.last
        problem = verdict.problem or (f"a row was not written ({unwritten})" if unwritten else "")
        await _note(store, clock, problem)
    except GatewayError as error:
        log.error("audit.unchecked", action="audit", error=str(error))
        return since
    if verdict.problem:
        return since
    audit.failures.last = ""
    return verdict.last


async def _note(store: Store, clock: Clock, problem: str) -> None:
    known = await store.read(lambda conn: facts.get(conn, TROUBLE))
    if problem:
        log.error("audit.trouble", action="audit", problem=problem)
        if problem != known:
            await store.write(lambda tx: facts.put(tx, TROUBLE, problem, now=clock.now()))
    elif known is not None:
        await store.write(lambda tx: facts.drop(tx, TROUBLE))


def state(conn: Connection) -> dict[str, Any]:
    """Return how the audit is: its rows, and what is wrong by the last look or at a glance."""
    anchor, head = audit.ends(conn)
    newest = audit.listed(conn, limit=1)
    problem = facts.get(conn, TROUBLE) or ""
    if not problem and newest and (newest[0].seq, newest[0].hash) != head:
        problem = f"the chain does not end with its last row, {newest[0].seq}"
    return {"rows": head.seq - anchor.seq, "problem": problem}
