"""Routes of sessions: members, context, summaries, search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Body, HTTPException, Query, Response

from gateway.memory.embedded import members, messages, recall, search, sessions, summaries, wire
from gateway.memory.embedded.api import common
from gateway.memory.embedded.errors import RefusedError
from gateway.memory.embedded.filters import session_list
from gateway.memory.embedded.values import Flags, SessionRef

if TYPE_CHECKING:
    from gateway.memory.embedded.values import Json
    from gateway.store.engine import Tx

router = APIRouter(prefix="/v3/workspaces/{workspace_id}/sessions")

Members = Annotated[dict[wire.Id, wire.SessionPeerConfig], Body()]


@router.post("")
async def get_or_create(
    memory: common.TheMemory, workspace_id: common.WorkspaceId, body: wire.SessionCreate
) -> Response:
    common.refuse_scope(body.scopes)
    ref, now = SessionRef(workspace_id, body.id), memory.clock.now()
    configuration, peers = common.configuration(body.configuration), _flags(body.peers or {})

    def save(tx: Tx) -> tuple[Json, bool]:
        saved = sessions.save(
            tx, ref, metadata=body.metadata, configuration=configuration, now=now
        )
        members.add(tx, ref, peers, now=now)
        return saved

    return common.got(*await memory.store.write(save))


@router.post("/list")
async def listed(
    memory: common.TheMemory,
    workspace_id: common.WorkspaceId,
    window: common.TheWindow,
    body: common.Listing = None,
) -> Response:
    filters = common.filters(body)
    return common.answer(
        await memory.store.read(lambda conn: sessions.listed(conn, workspace_id, filters, window))
    )


@router.put("/{session_id}")
async def update(
    memory: common.TheMemory, session: common.TheSession, body: wire.Update
) -> Response:
    now, configuration = memory.clock.now(), common.configuration(body.configuration)
    view, _ = await memory.store.write(
        lambda tx: sessions.save(
            tx, session, metadata=body.metadata, configuration=configuration, now=now
        )
    )
    return common.answer(view)


@router.delete("/{session_id}")
async def delete(memory: common.TheMemory, session: common.TheSession) -> Response:
    now = memory.clock.now()
    await memory.store.write(lambda tx: sessions.delete(tx, session, now=now))
    return common.answer({"message": "Session deleted successfully"}, 202)


@router.post("/{session_id}/clone")
async def clone(session: common.TheSession) -> Response:
    """Refuse: a copy of a session would be a second place to erase."""
    raise HTTPException(405, "Method Not Allowed")


@router.post("/{session_id}/search")
async def find(
    memory: common.TheMemory, session: common.TheSession, body: wire.Search
) -> Response:
    common.refuse_scope(body.scope)
    return common.answer(await search.search(memory, messages.within(session), body))


@router.get("/{session_id}/summaries")
async def both_summaries(memory: common.TheMemory, session: common.TheSession) -> Response:
    return common.answer(await memory.store.read(lambda conn: summaries.both(conn, session)))


@router.get("/{session_id}/context")
async def context(
    memory: common.TheMemory,
    session: common.TheSession,
    query: Annotated[wire.SessionContext, Query()],
) -> Response:
    common.refuse_scope(query.scope)
    wish = recall.ContextWish(
        tokens=query.tokens,
        summary=query.summary,
        target=query.peer_target,
        perspective=query.peer_perspective,
        sessions=_allowed(query, session),
        wish=common.wish(query),
    )
    return common.answer(await recall.session_context(memory, session, wish))


def _allowed(query: wire.SessionContext, session: SessionRef) -> tuple[str, ...] | None:
    for name, given in (
        ("peer_perspective", query.peer_perspective),
        ("sessions", query.sessions),
    ):
        if given is not None and query.peer_target is None:
            raise RefusedError(f"peer_target must be provided if {name} is provided")
    if query.sessions is None:
        return (session.session,) if query.limit_to_session else None
    if query.limit_to_session:
        raise RefusedError("`sessions` and `limit_to_session` are mutually exclusive")
    return session_list(query.sessions, must_include=session.session)


# --- members ---------------------------------------------------------------------------------


@router.get("/{session_id}/peers")
async def peers(
    memory: common.TheMemory, session: common.TheSession, window: common.TheWindow
) -> Response:
    return common.answer(
        await memory.store.read(lambda conn: members.listed(conn, session, window))
    )


@router.post("/{session_id}/peers")
async def add_peers(
    memory: common.TheMemory, session: common.TheSession, body: Members
) -> Response:
    now = memory.clock.now()

    def add(tx: Tx) -> Json:
        sessions.ensure(tx, session, now=now)
        members.add(tx, session, _flags(body), now=now)
        return sessions.get(tx.conn, session)

    return common.answer(await memory.store.write(add))


@router.put("/{session_id}/peers")
async def set_peers(
    memory: common.TheMemory, session: common.TheSession, body: Members
) -> Response:
    now = memory.clock.now()

    def replace(tx: Tx) -> Json:
        sessions.require(tx.conn, session, lock=True)
        members.replace(tx, session, _flags(body), now=now)
        return sessions.get(tx.conn, session)

    return common.answer(await memory.store.write(replace))


@router.delete("/{session_id}/peers")
async def remove_peers(
    memory: common.TheMemory, session: common.TheSession, body: Annotated[list[str], Body()]
) -> Response:
    def remove(tx: Tx) -> Json:
        sessions.require(tx.conn, session, lock=True)
        members.remove(tx, session, body)
        return sessions.get(tx.conn, session)

    return common.answer(await memory.store.write(remove))


@router.get("/{session_id}/peers/{peer_id}/config")
async def peer_config(
    memory: common.TheMemory, session: common.TheSession, peer_id: common.PeerId
) -> Response:
    return common.answer(
        await memory.store.read(lambda conn: members.flags(conn, session, peer_id))
    )


@router.put("/{session_id}/peers/{peer_id}/config")
async def set_peer_config(
    memory: common.TheMemory,
    session: common.TheSession,
    peer_id: common.PeerId,
    body: wire.SessionPeerConfig,
) -> Response:
    now, changes = memory.clock.now(), _flag(body)
    await memory.store.write(lambda tx: members.set_flags(tx, session, peer_id, changes, now=now))
    return Response(status_code=204)


def _flags(peers: dict[str, wire.SessionPeerConfig]) -> dict[str, Flags]:
    return {name: _flag(config) for name, config in peers.items()}


def _flag(config: wire.SessionPeerConfig) -> Flags:
    return Flags(config.observe_me, config.observe_others)
