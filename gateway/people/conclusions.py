"""Conclusions made by hand follow the person they are about; messages derive theirs anew."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gateway.model.errors import MemoryRejectedError
from gateway.model.ids import PeerId
from gateway.people import plan
from gateway.store import hand_notes, homes
from gateway.store.hand_notes import NoteKind
from gateway.store.homes import HomeState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.mailbox.lanes import Lease
    from gateway.model.ids import SessionId
    from gateway.ports import Memory
    from gateway.store.engine import Connection, Tx
    from gateway.store.hand_notes import Note
    from gateway.store.homes import Home, Source


class Conclusions:
    """Brings them to whom they are about, and back."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def follow(self, lease: Lease, owners: Mapping[str, PeerId]) -> None:
        """Bring each conclusion to the person it is about now; sessions have followed before."""
        found = await lease.store.read(lambda conn: _misplaced(conn, owners))
        for note, holder, session in found:
            ref = await self._bring(note, holder, session)
            if note.holder != note.observed:
                await self._drop(note, note.holder, note.held_ref)
            await self._note(lease, note, holder, ref)

    async def _bring(self, note: Note, holder: PeerId, session: SessionId | None) -> str:
        """Return the id under which the service has it about ``holder``, made if need be."""
        if holder == note.observed and note.ref:
            return note.ref
        observer = _observer(note, holder)
        known = await self._memory.conclusions(observer, holder, limit=100)
        same = next((id_ for id_, text in known if text == note.content), None)
        return same or await self._memory.conclude(observer, holder, note.content, session)

    async def _drop(self, note: Note, holder: PeerId, ref: str) -> None:
        with suppress(MemoryRejectedError):  # it went with its session
            await self._memory.forget_conclusion(_observer(note, holder), holder, ref)

    async def _note(self, lease: Lease, note: Note, holder: PeerId, ref: str) -> None:
        def write(tx: Tx) -> None:
            own = {"ref": ref} if holder == note.observed else {}
            hand_notes.update(tx, note.id, holder=holder, held_ref=ref, **own)

        await lease.write(write)

    async def purge(self, lease: Lease) -> None:
        """Delete what has been copied elsewhere; it cannot be switched back after that."""
        for note in await lease.store.read(lambda c: hand_notes.of(c, NoteKind.CONCLUSION)):
            if note.holder != note.observed and note.ref:
                await self._drop(note, note.observed, note.ref)
                await self._gone(lease, note)

    async def _gone(self, lease: Lease, note: Note) -> None:
        await lease.write(lambda tx: hand_notes.update(tx, note.id, ref=""))


def _observer(note: Note, holder: PeerId) -> PeerId:
    """Return who holds the view when it is about ``holder``; a person's own moves with them."""
    return holder if note.observer == note.observed else PeerId(note.observer)


def _misplaced(
    conn: Connection, owners: Mapping[str, PeerId]
) -> list[tuple[Note, PeerId, SessionId | None]]:
    """Return each conclusion that is about somebody else now, with the session it hangs on."""
    sources = {one.id: one for one in homes.sources(conn)}
    places = homes.of_all(conn)
    found: list[tuple[Note, PeerId, SessionId | None]] = []
    for note in hand_notes.of(conn, NoteKind.CONCLUSION):
        source = None if note.session is None else sources.get(note.session)
        if source is None:
            continue
        here = places.get(source.id, [])
        holder = _about(note, source, here, owners)
        if holder != note.holder:
            active = next((one for one in here if one.state is HomeState.ACTIVE), None)
            found.append((note, holder, source.id if active is None else active.name))
    return found


def _about(note: Note, source: Source, here: list[Home], owners: Mapping[str, PeerId]) -> PeerId:
    """Return whom it is about: who speaks in the session as the one it was written about."""
    standing = plan.standing(source, here)
    speakers = [one for one, peer in plan.original(source).items() if peer == note.observed]
    if source.peer is None:
        peers = {owners.get(one, note.observed) for one in speakers}
    else:
        peers = {standing.get(one) or note.observed for one in speakers}
    return peers.pop() if len(peers) == 1 else note.holder
