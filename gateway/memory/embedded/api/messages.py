"""Routes of a session's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, BackgroundTasks, Response

from gateway.memory.embedded import messages, wire
from gateway.memory.embedded.api import common

if TYPE_CHECKING:
    from gateway.memory.embedded.messages import Stored
    from gateway.store.engine import Tx

router = APIRouter(prefix="/v3/workspaces/{workspace_id}/sessions/{session_id}/messages")


@router.post("")
async def create(
    memory: common.TheMemory,
    session: common.TheSession,
    body: wire.MessageBatch,
    afterwards: BackgroundTasks,
) -> Response:
    """Store a batch; it is stored, too, when the client has gone before the answer."""
    now = memory.clock.now()

    def store(tx: Tx) -> Stored:
        stored = messages.add(tx, session, body.messages, now=now)
        memory.grown(tx, session, stored)
        return stored

    stored = await memory.store.write(store)
    before = stored.last_seq - len(body.messages)
    afterwards.add_task(memory.summarise, session, before=before, after=stored.last_seq)
    answer = common.answer(stored.messages, 201)
    answer.background = afterwards
    return answer


@router.post("/list")
async def listed(
    memory: common.TheMemory,
    session: common.TheSession,
    window: common.TheWindow,
    body: common.Listing = None,
) -> Response:
    filters = common.filters(body)
    return common.answer(
        await memory.store.read(lambda conn: messages.listed(conn, session, filters, window))
    )


@router.get("/{message_id}")
async def get(memory: common.TheMemory, session: common.TheSession, message_id: str) -> Response:
    return common.answer(
        await memory.store.read(lambda conn: messages.get(conn, session, message_id))
    )


@router.put("/{message_id}")
async def update(
    memory: common.TheMemory,
    session: common.TheSession,
    message_id: str,
    body: wire.MessageUpdate,
) -> Response:
    return common.answer(
        await memory.store.write(
            lambda tx: messages.update(tx, session, message_id, body.metadata)
        )
    )
