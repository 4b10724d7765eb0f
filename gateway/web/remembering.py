"""What is remembered of a person: numbers for who may look, words only for a stated reason.

Words are shown once, to an operator, and only where the person can be told of it: the notice
goes out in the transaction of the audit row, before anything is read.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gateway.memory.entries import Target, dump
from gateway.memory.notes import Approvals
from gateway.model.errors import GatewayError, MemoryServiceError
from gateway.model.ids import PeerId, sortable_id
from gateway.store import approvals, audit, ledger, outbox, turns
from gateway.text import catalog
from gateway.web.shapes import FileCount, MemoryView, Revealed, Said, WaitingWrite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.store.engine import Connection, Tx
    from gateway.web.doors import Visitor
    from gateway.web.parts import Parts

#: conclusions that are counted and shown, and messages that are shown
CONCLUSIONS, MESSAGES = 100, 50
#: seconds that the memory service gets to say how much it has
PATIENCE = 2.0
#: characters of a reason
REASON = 500


class NotRevealedError(GatewayError):
    """What people wrote stays theirs here."""

    code = "not_revealed"


class NoWriteError(GatewayError):
    """No such write waits."""

    code = "no_write"


async def view(parts: Parts, peer: PeerId) -> MemoryView:
    """Return what is remembered of a person, in numbers."""

    def count(conn: Connection) -> MemoryView:
        direct = turns.last_alone(conn, peer)
        return MemoryView(
            peer=peer,
            messages=ledger.counts(conn, peer=peer),
            sessions=ledger.sessions_of(conn, peer),
            turns=turns.number_of(conn, peer),
            files=[],
            conclusions=None,
            card=None,
            waiting_writes=len(approvals.of(conn, peer)),
            closed=_closed(parts, reachable=direct is not None),
        )

    counted = await parts.store.read(count)
    files = [await _file(parts, peer, target) for target in Target]
    found = {"files": files, **await _service(parts, peer)}
    return counted.model_copy(update=found)


def _closed(parts: Parts, *, reachable: bool) -> str:
    if not parts.reveals():
        return "web.reveal is off in config.yaml: what people wrote is shown to nobody here."
    if not reachable:
        return (
            "This person never wrote to the bot alone, so they could not be told of it: "
            "what they wrote is not shown."
        )
    return ""


async def _file(parts: Parts, peer: PeerId, target: Target) -> FileCount:
    entries = await parts.files.read(peer, target)
    return FileCount(
        name=target.file,
        entries=len(entries),
        chars=len(dump(entries).rstrip("\n")),
        limit=parts.files.rules.limits[target],
    )


async def _service(parts: Parts, peer: PeerId) -> dict[str, int | None]:
    try:
        async with asyncio.timeout(PATIENCE):
            card, conclusions = await _known(parts, peer)
    except (MemoryServiceError, TimeoutError):
        return {"card": None, "conclusions": None}
    return {"card": len(card), "conclusions": len(conclusions)}


async def _known(parts: Parts, peer: PeerId) -> tuple[Sequence[str], list[tuple[str, str]]]:
    if parts.memory is None:
        return (), []
    recall = parts.current.rules.recall
    observer = recall.agent if recall.agent_observes else peer
    card = await parts.memory.card(observer, peer)
    return card, await parts.memory.conclusions(observer, peer, limit=CONCLUSIONS)


async def reveal(parts: Parts, visitor: Visitor, peer: PeerId, reason: str) -> Revealed:
    """Tell the person, note it in the audit, then return what is remembered of them.

    Raises ``NotRevealedError``.
    """
    reason = " ".join(reason.split())[:REASON]
    if not reason:
        raise NotRevealedError("say why it has to be seen; the person reads this reason")
    await parts.store.write(lambda tx: _tell(tx, parts, visitor, peer, reason))
    card, conclusions = await _spoken(parts, peer)
    said = await parts.store.read(lambda conn: ledger.said_by(conn, peer, limit=MESSAGES))
    waiting = await parts.store.read(lambda conn: approvals.of(conn, peer))
    return Revealed(
        peer=peer,
        files={each.file: list(await parts.files.read(peer, each)) for each in Target},
        card=list(card),
        conclusions=[text for _, text in conclusions],
        messages=[Said(role=one.role, text=one.text, at=one.sent_at) for one in said],
        writes=[_write(one) for one in waiting],
    )


def _write(one: approvals.Staged) -> WaitingWrite:
    write = one.write
    return WaitingWrite(
        id=one.id,
        file=write.file,
        action=write.action,
        content=write.content,
        old_text=write.old_text,
    )


async def decide(parts: Parts, visitor: Visitor, peer: PeerId, id_: str, *, yes: bool) -> None:
    """Let the agent write what waits, or drop it. Raises ``NoWriteError``, ``ToolError``."""
    desk = Approvals(parts.files, parts.store, parts.clock)
    done = await (desk.approve if yes else desk.reject)(id_, peer)
    if done is None:
        raise NoWriteError(f"nothing of {peer} waits under {id_}")
    now, what = parts.clock.now(), "approved" if yes else "rejected"
    told = {"actor": visitor.name, "subject": peer, "write": done.id}
    await parts.store.write(lambda tx: audit.record(tx, f"memory.write_{what}", now=now, **told))


async def _spoken(parts: Parts, peer: PeerId) -> tuple[Sequence[str], list[tuple[str, str]]]:
    try:
        return await _known(parts, peer)
    except MemoryServiceError:
        return (), []


def _tell(tx: Tx, parts: Parts, visitor: Visitor, peer: PeerId, reason: str) -> None:
    direct = turns.last_alone(tx.conn, peer)
    closed = _closed(parts, reachable=direct is not None)
    if direct is None or closed:
        raise NotRevealedError(closed)
    now = parts.clock.now()
    letter = outbox.Letter(sortable_id("reveal"), direct.address, ())
    text = catalog.text("web.revealed", direct.language, reason=reason)
    parts.post.notice(tx, letter, text)
    audit.record(tx, "memory.revealed", actor=visitor.name, subject=peer, now=now, reason=reason)
