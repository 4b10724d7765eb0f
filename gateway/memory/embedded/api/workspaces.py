"""Routes of workspaces, their search and their queue."""

from __future__ import annotations

from fastapi import APIRouter, Response

from gateway.memory.embedded import messages, search, spaces, wire
from gateway.memory.embedded.api import common

router = APIRouter(prefix="/v3/workspaces")


@router.post("")
async def get_or_create(memory: common.TheMemory, body: wire.WorkspaceCreate) -> Response:
    now, configuration = memory.clock.now(), common.configuration(body.configuration)
    view, created = await memory.store.write(
        lambda tx: spaces.save_workspace(
            tx, body.id, metadata=body.metadata, configuration=configuration, now=now
        )
    )
    return common.got(view, created)


@router.post("/list")
async def listed(
    memory: common.TheMemory, window: common.TheWindow, body: common.Listing = None
) -> Response:
    filters = common.filters(body)
    return common.answer(
        await memory.store.read(lambda conn: spaces.list_workspaces(conn, filters, window))
    )


@router.put("/{workspace_id}")
async def update(
    memory: common.TheMemory, workspace_id: common.WorkspaceId, body: wire.Update
) -> Response:
    now, configuration = memory.clock.now(), common.configuration(body.configuration)
    view, _ = await memory.store.write(
        lambda tx: spaces.save_workspace(
            tx, workspace_id, metadata=body.metadata, configuration=configuration, now=now
        )
    )
    return common.answer(view)


@router.delete("/{workspace_id}")
async def delete(memory: common.TheMemory, workspace_id: common.WorkspaceId) -> Response:
    await memory.store.write(lambda tx: spaces.delete_workspace(tx, workspace_id))
    return common.answer({"message": "Workspace deletion accepted"}, 202)


@router.post("/{workspace_id}/search")
async def find(
    memory: common.TheMemory, workspace_id: common.WorkspaceId, body: wire.Search
) -> Response:
    common.refuse_scope(body.scope)
    here = messages.message.c.workspace == workspace_id
    return common.answer(await search.search(memory, here, body))


@router.get("/{workspace_id}/queue/status")
async def queue_status(
    memory: common.TheMemory,
    workspace_id: common.WorkspaceId,
    session_id: str | None = None,
) -> Response:
    return common.answer(await memory.status(workspace_id, session_id))


@router.post("/{workspace_id}/schedule_dream")
async def schedule_dream(workspace_id: common.WorkspaceId, body: wire.Dream) -> Response:
    """Accept the request: everything known is read anew for each answer, so nothing is due."""
    return Response(status_code=204)
