"""Routes of peers: their cards, what is known of them, questions to them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import sqlalchemy as sa
from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from gateway.memory.embedded import messages, pairs, recall, search, sessions, spaces, wire
from gateway.memory.embedded.api import common
from gateway.memory.embedded.deriver import Question
from gateway.memory.embedded.errors import RefusedError
from gateway.memory.embedded.filters import allowed_sessions
from gateway.memory.embedded.values import PairRef

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

router = APIRouter(prefix="/v3/workspaces/{workspace_id}/peers")

Target = Annotated[
    str | None, Query(min_length=1, max_length=wire.MAX_ID, pattern=wire.ID_PATTERN)
]


@router.post("")
async def get_or_create(
    memory: common.TheMemory, workspace_id: common.WorkspaceId, body: wire.PeerCreate
) -> Response:
    now, changes = memory.clock.now(), body.model_dump(exclude_none=True, exclude={"id"})
    view, created = await memory.store.write(
        lambda tx: spaces.save_peer(tx, workspace_id, body.id, changes=changes, now=now)
    )
    return common.got(view, created)


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
            lambda conn: spaces.list_peers(conn, workspace_id, filters, window)
        )
    )


@router.put("/{peer_id}")
async def update(
    memory: common.TheMemory,
    workspace_id: common.WorkspaceId,
    peer_id: common.PeerId,
    body: wire.PeerUpdate,
) -> Response:
    now, changes = memory.clock.now(), body.model_dump(exclude_none=True)
    view, _ = await memory.store.write(
        lambda tx: spaces.save_peer(tx, workspace_id, peer_id, changes=changes, now=now)
    )
    return common.answer(view)


@router.post("/{peer_id}/sessions")
async def of_sessions(
    memory: common.TheMemory,
    workspace_id: common.WorkspaceId,
    peer_id: common.PeerId,
    window: common.TheWindow,
    body: common.Listing = None,
) -> Response:
    filters = common.filters(body)
    return common.answer(
        await memory.store.read(
            lambda conn: sessions.listed(conn, workspace_id, filters, window, peer=peer_id)
        )
    )


@router.post("/{peer_id}/search")
async def find(
    memory: common.TheMemory,
    workspace_id: common.WorkspaceId,
    peer_id: common.PeerId,
    body: wire.Search,
) -> Response:
    common.refuse_scope(body.scope)
    message = messages.message
    said = sa.and_(message.c.workspace == workspace_id, message.c.peer == peer_id)
    return common.answer(await search.search(memory, said, body))


# --- what is known ---------------------------------------------------------------------------


@router.get("/{peer_id}/card")
async def card(
    memory: common.TheMemory,
    workspace_id: common.WorkspaceId,
    peer_id: common.PeerId,
    target: Target = None,
) -> Response:
    ref = PairRef(workspace_id, peer_id, target or peer_id)
    held = await memory.store.read(lambda conn: pairs.card(conn, ref))
    return common.answer({"peer_card": held})


@router.put("/{peer_id}/card")
async def set_card(
    memory: common.TheMemory,
    workspace_id: common.WorkspaceId,
    peer_id: common.PeerId,
    body: wire.CardSet,
    target: Target = None,
) -> Response:
    ref, now = PairRef(workspace_id, peer_id, target or peer_id), memory.clock.now()
    await memory.store.write(lambda tx: pairs.set_card(tx, ref, body.peer_card, now=now))
    return common.answer({"peer_card": body.peer_card})


@router.post("/{peer_id}/representation")
async def representation(
    memory: common.TheMemory,
    workspace_id: common.WorkspaceId,
    peer_id: common.PeerId,
    body: wire.Representation,
) -> Response:
    common.refuse_scope(body.scope)
    allowed = allowed_sessions(body.filters, must_include=body.session_id)
    if body.session_id is not None:
        allowed = (body.session_id,)
    ref = PairRef(workspace_id, peer_id, body.target or peer_id)
    text = await recall.representation(memory, ref, common.wish(body), allowed)
    return common.answer({"representation": text})


@router.get("/{peer_id}/context")
async def context(
    memory: common.TheMemory,
    workspace_id: common.WorkspaceId,
    peer_id: common.PeerId,
    query: Annotated[wire.PeerContext, Query()],
) -> Response:
    ref = PairRef(workspace_id, peer_id, query.target or peer_id)
    return common.answer(await recall.peer_context(memory, ref, common.wish(query)))


@router.post("/{peer_id}/chat")
async def chat(
    memory: common.TheMemory,
    workspace_id: common.WorkspaceId,
    peer_id: common.PeerId,
    body: wire.Chat,
) -> Response:
    common.refuse_scope(body.scope)
    if body.response_format is not None:
        raise RefusedError("This service answers in plain text; leave 'response_format' out")
    allowed = allowed_sessions(body.filters, must_include=body.session_id)
    ref, now = PairRef(workspace_id, peer_id, body.target or peer_id), memory.clock.now()
    await memory.store.write(lambda tx: spaces.ensure_peers(tx, workspace_id, [peer_id], now=now))
    await memory.store.read(lambda conn: recall.check_question(conn, ref, body.session_id))
    known = await memory.store.read(lambda conn: pairs.known(conn, ref, allowed))
    pieces = memory.deriver.answer(known, Question(body.query, body.reasoning_level))
    if body.stream:
        return StreamingResponse(_events(pieces), media_type="text/event-stream")
    text = "".join([piece async for piece in pieces]).strip()
    return common.answer({"content": text or None})


async def _events(pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    async for piece in pieces:
        yield _event({"delta": {"content": piece}, "done": False})
    yield _event({"done": True})


def _event(content: object) -> str:
    return f"data: {json.dumps(content)}\n\n"
