"""Routes of conclusions."""

from __future__ import annotations

from fastapi import APIRouter, Response

from gateway.memory.embedded import conclusions, wire
from gateway.memory.embedded.api import common

router = APIRouter(prefix="/v3/workspaces/{workspace_id}/conclusions")


@router.post("")
async def create(
    memory: common.TheMemory, workspace_id: common.WorkspaceId, body: wire.ConclusionBatch
) -> Response:
    now = memory.clock.now()
    created = await memory.store.write(
        lambda tx: conclusions.create(tx, workspace_id, body.conclusions, now=now)
    )
    return common.answer(created, 201)


@router.post("/list")
async def listed(
    memory: common.TheMemory,
    workspace_id: common.WorkspaceId,
    window: common.TheWindow,
    body: common.Listing = None,
) -> Response:
    filters = common.filters(body)
    return common.answer(
        await memory.store.read(
            lambda conn: conclusions.listed(conn, workspace_id, filters, window)
        )
    )


@router.post("/query")
async def look_up(
    memory: common.TheMemory, workspace_id: common.WorkspaceId, body: wire.ConclusionQuery
) -> Response:
    return common.answer(await conclusions.look_up(memory, workspace_id, body))


@router.delete("/{conclusion_id}")
async def delete(
    memory: common.TheMemory, workspace_id: common.WorkspaceId, conclusion_id: str
) -> Response:
    await memory.store.write(lambda tx: conclusions.delete(tx, workspace_id, conclusion_id))
    return Response(status_code=204)
