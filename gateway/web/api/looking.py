"""Routes that change nothing."""

from __future__ import annotations

from fastapi import APIRouter

from gateway.model.ids import PeerId, TurnId
from gateway.web import (
    auditing,
    configuration,
    deliveries,
    health,
    identity,
    linking,
    pairing,
    remembering,
    sessions,
    traces,
)
from gateway.web.access import AnyVisitor, JudgedFirst, TheParts
from gateway.web.api.common import Name, Word
from gateway.web.identity_shapes import (
    AliasesShape,
    AuditView,
    JobShape,
    LinksShape,
    PersonShape,
    PreviewShape,
    RecordShape,
    Wish,
)
from gateway.web.shapes import (
    DeliveryView,
    HealthView,
    MemoryView,
    PairingView,
    SessionDetail,
    SessionView,
    SettingsView,
    Trace,
    TurnView,
)

router = APIRouter(route_class=JudgedFirst)


@router.get("/health", tags=["health"])
async def show_health(parts: TheParts) -> HealthView:
    """Say how everything is."""
    return await health.view(parts)


@router.get("/people", tags=["people"])
async def list_people(parts: TheParts, q: Word = "") -> list[PersonShape]:
    """List everybody; ``q``: with this in a name, a peer or an id."""
    return await identity.people(parts, q)


@router.get("/people/{peer}", tags=["people"])
async def show_person(parts: TheParts, peer: Name) -> PersonShape:
    """Show one person with all accounts."""
    return await identity.person(parts, peer)


@router.get("/people/{peer}/memory", tags=["people"])
async def count_memory(parts: TheParts, peer: Name) -> MemoryView:
    """Say how much is remembered of a person, without a word of it."""
    await identity.person(parts, peer)
    return await remembering.view(parts, PeerId(peer))


@router.get("/aliases", tags=["identity"])
async def list_aliases(parts: TheParts) -> AliasesShape:
    """List the alias map."""
    return await identity.aliases(parts)


@router.get("/identity/history", tags=["identity"])
async def list_changes(parts: TheParts) -> list[RecordShape]:
    """List the changes of who is who, the newest first."""
    return await identity.history(parts)


@router.get("/identity/jobs", tags=["identity"])
async def list_jobs(parts: TheParts) -> list[JobShape]:
    """Say how far memory has followed changes of who is who."""
    return await identity.jobs(parts)


@router.get("/links", tags=["identity"])
async def list_links(parts: TheParts) -> LinksShape:
    """List the accounts that their own people joined, and those that wait for a yes."""
    return await linking.view(parts)


@router.post("/identity/preview", tags=["identity"])
async def preview_change(parts: TheParts, _visitor: AnyVisitor, body: Wish) -> PreviewShape:
    """Say what a change would do; nothing is changed."""
    return await identity.preview(parts, body)


@router.get("/audit", tags=["audit"])
async def list_audit(parts: TheParts, action: Word = "", who: Word = "") -> AuditView:
    """List who decided what, the newest first."""
    return await auditing.view(parts, action=action, who=who)


@router.get("/pairing", tags=["pairing"])
async def list_pairing(parts: TheParts) -> PairingView:
    """List who waits, and who was let in."""
    return await pairing.view(parts)


@router.get("/sessions", tags=["sessions"])
async def list_sessions(parts: TheParts, q: Word = "") -> list[SessionView]:
    """List the newest memory sessions; ``q``: with this in name, conversation, title or peer."""
    return await sessions.view(parts, having=q)


@router.get("/sessions/{name}", tags=["sessions"])
async def show_session(parts: TheParts, name: Name) -> SessionDetail:
    """Show one memory session with its members."""
    return await sessions.detail(parts, name)


@router.get("/deliveries", tags=["deliveries"])
async def list_deliveries(parts: TheParts, state: Word = "") -> list[DeliveryView]:
    """List the parts that wait, failed, or may have arrived."""
    return await deliveries.view(parts, state)


@router.get("/turns", tags=["traces"])
async def list_turns(parts: TheParts, peer: Word = "", state: Word = "") -> list[TurnView]:
    """List the newest turns."""
    return await traces.view(parts, peer=peer, state=state)


@router.get("/turns/{turn}", tags=["traces"])
async def show_turn(parts: TheParts, turn: Name) -> Trace:
    """Show a message's way, step by step, without any text."""
    return await traces.detail(parts, TurnId(turn))


@router.get("/settings", tags=["settings"])
async def check_settings(parts: TheParts) -> SettingsView:
    """Read the configuration as the next start would, and say all that is wrong."""
    return await configuration.view(parts)
