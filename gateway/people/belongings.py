"""Cards and memory files follow a person who became another peer altogether.

Of a card, what was set by hand follows: the rest was derived, and is derived anew.

Nobody can tell whose each line of them is, so nothing follows while some account is still the
former peer. What was given is noted before it is given: a kill repeats nothing, an undo takes
exactly that back, and the former card and files stay until they are purged.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.memory import files
from gateway.memory.entries import Target, size
from gateway.model.ids import PeerId
from gateway.people import plan
from gateway.store import hand_notes, homes, rehome_jobs
from gateway.store.hand_notes import NoteKind
from gateway.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from gateway.mailbox.lanes import Lease
    from gateway.memory.entries import Entries
    from gateway.memory.files import MemoryFiles
    from gateway.memory.rules import CaptureRules
    from gateway.ports import Clock, Memory
    from gateway.settings.home import Home
    from gateway.store.engine import Connection, Tx
    from gateway.store.hand_notes import Note
    from gateway.store.rehome_jobs import Job

#: facts that a card holds
CARD = 40


@dataclass(frozen=True, slots=True)
class Belongings:
    """Brings them along, and back."""

    memory: Memory
    clock: Clock
    home: Home
    files: MemoryFiles
    rules: Callable[[], CaptureRules]

    async def follow(self, lease: Lease, job: Job, owners: Mapping[str, PeerId]) -> None:
        """Bring everything to where it belongs now; sessions have followed before."""
        heirs = await lease.store.read(lambda conn: heirs_of(conn, owners))
        if (owner := self.files.rules.owner) is not None:
            # what the owner had as one of many goes into the home's own files
            heirs[owner] = owner
        given = await lease.store.read(
            lambda conn: hand_notes.of(conn, NoteKind.CARD, NoteKind.FILE)
        )
        for note in given:
            if heirs.get(note.observed) != note.holder:
                await self._take_back(lease, note)
            elif not note.content["done"]:
                await self._give(lease, job, note)
        held = {(note.kind, note.observer, note.observed, note.holder) for note in given}
        for former, heir in heirs.items():
            for kind, which in self._kinds(former, heir):
                if (kind, which, former, heir) not in held:
                    await self._begin(lease, job, kind, which, (former, heir))

    def _kinds(self, former: PeerId, heir: PeerId) -> list[tuple[NoteKind, str]]:
        kinds = [(NoteKind.FILE, target.value) for target in Target]
        if former != heir:
            kinds += [(NoteKind.CARD, str(one)) for one in (self.rules().agent_peer, former)]
        return kinds

    async def _begin(
        self, lease: Lease, job: Job, kind: NoteKind, which: str, pair: tuple[PeerId, PeerId]
    ) -> None:
        """Note what is to be given, then give it."""
        former, heir = pair
        by_hand = await lease.store.read(lambda conn: hand_notes.facts(conn, which, former))
        content = await self._choose(kind, which, former, heir, by_hand)
        if not content["added"] and not content["aside"]:
            return

        def note(tx: Tx) -> Note:
            number = hand_notes.add(
                tx,
                kind,
                which,
                former,
                holder=heir,
                content=content,
                now=self.clock.now(),
            )
            return next(one for one in hand_notes.of(tx.conn, kind) if one.id == number)

        await self._give(lease, job, await lease.write(note))

    async def _choose(
        self, kind: NoteKind, which: str, former: PeerId, heir: PeerId, set_by_hand: Sequence[str]
    ) -> dict[str, Any]:
        if kind is NoteKind.CARD and not set_by_hand:
            return {"added": [], "aside": [], "done": False}
        if kind is NoteKind.CARD:
            theirs = await self.memory.card(PeerId(which), former)
            theirs = tuple(one for one in theirs if one in set_by_hand)
            own = await self.memory.card(_observer(which, former, heir), heir)
            new = [one for one in theirs if one not in own]
            room = max(0, CARD - len(own))
            return {"added": new[:room], "aside": new[room:], "done": False}
        target = Target(which)
        entries = await _entries(self._former(former, target))
        own = await self.files.read(heir, target)
        added, aside = share_out(entries, own, self.files.rules.limits[target])
        return {"added": added, "aside": aside, "done": False}

    async def _give(self, lease: Lease, job: Job, note: Note) -> None:
        added, aside = note.content["added"], note.content["aside"]
        if note.kind is NoteKind.CARD:
            observer = _observer(note.observer, note.observed, note.holder)
            own = await self.memory.card(observer, note.holder)
            await self.memory.set_card(observer, note.holder, list(dict.fromkeys((*own, *added))))
        else:
            target = Target(note.observer)
            await _add(self.files.path(note.holder, target), added)
            if aside:
                await _add(self._aside(note), aside)

        def done(tx: Tx) -> None:
            hand_notes.update(tx, note.id, content={**note.content, "done": True})
            if aside:
                line = self._line(note, len(aside))
                rehome_jobs.note(tx, job.id, line, now=self.clock.now())

        await lease.write(done)

    def _line(self, note: Note, count: int) -> str:
        if note.kind is NoteKind.CARD:
            return (
                f"not in the card of {note.holder}, which is full: "
                f"{counted(count, 'fact')} of the card of {note.observed}"
            )
        where = self._aside(note)
        name = Target(note.observer).file
        return f"{count} of {note.observed}'s entries do not fit into {name}; they are in {where}"

    async def _take_back(self, lease: Lease, note: Note) -> None:
        added = note.content["added"]
        if note.kind is NoteKind.CARD:
            observer = _observer(note.observer, note.observed, note.holder)
            own = await self.memory.card(observer, note.holder)
            await self.memory.set_card(
                observer, note.holder, [one for one in own if one not in added]
            )
        else:
            await _remove(self.files.path(note.holder, Target(note.observer)), added)
            await _remove(self._aside(note), note.content["aside"])
        await lease.write(lambda tx: hand_notes.remove(tx, note.id))

    async def purge(self, lease: Lease) -> None:
        """Empty the cards and files that were given along whole; what did not fit stays aside."""
        for note in await lease.store.read(
            lambda conn: hand_notes.of(conn, NoteKind.CARD, NoteKind.FILE)
        ):
            if not note.content["done"]:
                continue
            if note.kind is NoteKind.CARD:
                await self._empty(note)
            else:
                target = Target(note.observer)
                path = self._former(note.observed, target)
                safe = (*await self.files.read(note.holder, target), *note.content["aside"])
                await _remove(path, safe)
            await self._forget(lease, note)

    async def _empty(self, note: Note) -> None:
        """Take what was given along off the former card."""
        observer, given = PeerId(note.observer), (*note.content["added"], *note.content["aside"])
        card = await self.memory.card(observer, note.observed)
        left = [one for one in card if one not in given]
        if len(left) != len(card):
            await self.memory.set_card(observer, note.observed, left)

    async def _forget(self, lease: Lease, note: Note) -> None:
        await lease.write(lambda tx: hand_notes.remove(tx, note.id))

    def _former(self, former: PeerId, target: Target) -> Path:
        return self.home.person(former) / target.file

    def _aside(self, note: Note) -> Path:
        path = self.files.path(note.holder, Target(note.observer))
        return path.with_name(f"{path.stem}.from-{note.observed}.md")


def heirs_of(conn: Connection, owners: Mapping[str, PeerId]) -> dict[PeerId, PeerId]:
    """Return former peer → the one person who all its accounts are now."""
    alive = set(owners.values())
    places = homes.of_all(conn)
    found: dict[PeerId, set[PeerId]] = defaultdict(set)
    for source in homes.sources(conn):
        stands = plan.standing(source, places.get(source.id, []))
        for author, peer in plan.original(source).items():
            if peer is not None and peer not in alive and source.peer is not None:
                found[peer].add(stands.get(author) or peer)
    return {
        former: next(iter(heirs))
        for former, heirs in found.items()
        if len(heirs) == 1 and former not in heirs
    }


def share_out(
    entries: Sequence[str], own: Sequence[str], limit: int
) -> tuple[list[str], list[str]]:
    """Return the entries that are new and fit into a file, and the new ones that do not."""
    kept, added, aside = list(own), list[str](), list[str]()
    for one in dict.fromkeys(entries):
        if one in kept:
            continue
        fits = size([*kept, one]) <= limit
        (added if fits else aside).append(one)
        if fits:
            kept.append(one)
    return added, aside


def _observer(observer: str, former: PeerId, heir: PeerId) -> PeerId:
    """Return who holds the view of the heir: a person's own view moves with the person."""
    return heir if observer == former else PeerId(observer)


async def _entries(path: Path) -> Entries:
    return await asyncio.to_thread(files.read, path)


async def _add(path: Path, wanted: Sequence[str]) -> None:
    def add(own: Entries) -> Entries:
        return tuple(dict.fromkeys((*own, *wanted)))

    if wanted:
        await asyncio.to_thread(files.update, path, add)


async def _remove(path: Path, unwanted: Sequence[str]) -> None:
    def keep(own: Entries) -> Entries:
        return tuple(one for one in own if one not in unwanted)

    def remove() -> None:
        if path.exists():
            files.update(path, keep)

    if unwanted:
        await asyncio.to_thread(remove)
