"""The service: lists people, shows what a change would do, makes it, remembers it, undoes it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from gateway.model.errors import ConfigurationError
from gateway.people import census, listing, recording, requests
from gateway.people.preview import Ground, preview
from gateway.people.recording import recorded
from gateway.people.values import Applied, Conflict
from gateway.pipeline.rules import identity_rules
from gateway.policy import identity_change as policy
from gateway.settings import rewrite
from gateway.settings.rewrite import REMOVE
from gateway.store import identity_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gateway.people.census import Census
    from gateway.people.values import AccountView, AliasView, PersonView, Preview
    from gateway.policy.identity_change import Change
    from gateway.ports import Clock
    from gateway.settings.read import Loaded
    from gateway.store.engine import Connection, Store, Tx
    from gateway.store.identity_changes import Author, Record

T = TypeVar("T")

_COUNTED = partial(census.take, talk_too=True)
_WHOLE = partial(census.take, talk_too=True, sessions_too=True)
#: what an edit by hand is recorded under
BY_HAND = "file"
#: looks at the file until somebody else who edits it all the time wins
TRIES = 5


class People:
    """Who is who in one home. Needs no running gateway, and works beside one.

    Every method may raise ``ConfigurationError`` (the files are at fault, or what was asked for)
    and ``StoreError``.
    """

    def __init__(
        self,
        store: Store | None,
        clock: Clock,
        load: Callable[[], Loaded],
        *,
        stand_in: Callable[[Loaded], str],
        platforms: frozenset[str],
    ) -> None:
        """``store`` None: nothing has happened in the home yet, so nothing can be changed."""
        self._store = store
        self._clock = clock
        self._load = load
        self._stand_in = stand_in
        self._platforms = platforms

    # --- looking -------------------------------------------------------------------------

    async def people(self, search: str = "") -> tuple[PersonView, ...]:
        """Return everybody, whoever wrote last first; ``search`` in names, peers and ids."""
        loaded = await self._loaded()
        return listing.people(await self._ground(loaded, _COUNTED), loaded, search)

    async def accounts(self) -> tuple[AccountView, ...]:
        """Return every account that wrote."""
        loaded = await self._loaded()
        return listing.accounts(await self._ground(loaded, _COUNTED), loaded)

    async def aliases(self) -> tuple[AliasView, ...]:
        """Return the entries of the alias map."""
        loaded = await self._loaded()
        return listing.aliases(await self._ground(loaded), loaded)

    async def revision(self) -> str:
        """Return what ``apply`` wants to know: which keys were looked at."""
        return (await self.ground()).revision

    async def ground(self) -> Ground:
        """Return who wrote and the rules of the files, as of now."""
        return await self._ground(await self._loaded())

    async def history(self, limit: int = 100) -> tuple[Record, ...]:
        """Return the changes of the identity keys, the newest first."""
        await self.notice()
        return tuple(await self._read(lambda conn: identity_changes.listed(conn, limit=limit), []))

    async def notice(self) -> Record | None:
        """Record what somebody changed in the file by hand since the last look."""
        if self._store is None:
            return None
        loaded = await self._loaded()
        present = policy.keys(identity_rules(loaded.settings, loaded.honcho))
        now = self._clock.now()
        author = identity_changes.Author(BY_HAND)

        def note(tx: Tx) -> Record | None:
            id_ = identity_changes.notice(tx, present, author, now=now)
            record = None if id_ is None else identity_changes.find(tx.conn, id_)
            if record is not None:
                recording.note(tx, record)
            return record

        return await self._store.write(note)

    # --- what to change ----------------------------------------------------------------------

    def aliased(self, targets: Mapping[str, str | None]) -> Change:
        """Return the change for alias entries as they were typed; None removes an entry."""
        return requests.alias_change(targets, self._platforms)

    async def merging(self, source: str, into: str) -> Change:
        """Return the change by which all accounts of one person become another's."""
        return requests.merge_change(await self.ground(), source, into)

    async def splitting(self, account: str, to: str | None = None) -> Change:
        """Return the change by which an account becomes a person of its own."""
        return requests.split_change(await self.ground(), account, to)

    async def unpinning(self) -> Change:
        """Return the change by which everybody gets a memory of their own."""
        return requests.unpin_change(await self.ground())

    async def undoing(self, id_: int) -> Change:
        """Return the change that takes a change back. ``ConfigurationError`` where none can."""
        record = await self._record(id_)
        if record.undone_by is not None:
            raise ConfigurationError(f"change {id_} was undone already, by {record.undone_by}")
        return policy.inverse(record.edits)

    async def preview(self, change: Change) -> Preview:
        """Return what a change would do; its ``problems`` say why it cannot be made."""
        return preview(await self._ground(await self._loaded(), _WHOLE), change)

    # --- changing ----------------------------------------------------------------------------

    async def apply(
        self, change: Change, *, expected: str, author: Author, undoes: int | None = None
    ) -> Applied | Conflict:
        """Write a change that was previewed at revision ``expected``.

        Raises ``ConfigurationError`` with the preview's problems, or where the file cannot be
        written; it is as it was then.
        """
        await self.notice()
        for _ in range(TRIES):
            loaded = await self._loaded()
            ground = await self._ground(loaded, _WHOLE)
            seen = preview(ground, change)
            if ground.revision != expected:
                return await self._conflict(expected, seen)
            if seen.problems:
                raise ConfigurationError(*seen.problems)
            if not seen.edits:
                return Applied(None, ground.revision, seen)
            try:
                return await self._write(loaded, ground, seen, author, undoes)
            except rewrite.ConcurrentChangeError:
                continue
        raise ConfigurationError("the file of the aliases keeps being changed; try again")

    async def undo(
        self, id_: int, *, author: Author, expected: str | None = None
    ) -> Applied | Conflict:
        """Take a change back at once; memory that was re-homed is switched back, not replayed.

        A later change of the same keys is a conflict: it would be undone with it.
        """
        change = await self.undoing(id_)
        ground = await self._ground(await self._loaded(), _WHOLE)
        record = await self._record(id_)
        touched = policy.overtaken(record.edits, policy.keys(ground.rules))
        if touched and expected != ground.revision:
            return await self._conflict(record.revision_after, preview(ground, change))
        return await self.apply(
            change, expected=expected or ground.revision, author=author, undoes=id_
        )

    async def _write(
        self, loaded: Loaded, ground: Ground, seen: Preview, author: Author, undoes: int | None
    ) -> Applied:
        before = policy.keys(ground.rules)
        after = policy.keys(policy.changed(ground.rules, seen.change))
        noted = recorded(self._writable(), self._clock, (before, after), author, undoes=undoes)
        async with noted as id_:
            await asyncio.to_thread(_rewrite, loaded, seen)
        return Applied(id_, policy.revision(after), seen)

    async def _conflict(self, expected: str, seen: Preview) -> Conflict:
        nothing: list[Record] = []
        since = await self._read(lambda conn: identity_changes.since(conn, expected), nothing)
        ours = set(seen.change.values)
        touched = {
            edit.path: edit for record in since for edit in record.edits if edit.path in ours
        }
        return Conflict(tuple(since), tuple(touched.values()), seen)

    async def _record(self, id_: int) -> Record:
        record = await self._read(lambda conn: identity_changes.find(conn, id_), None)
        if record is None:
            raise ConfigurationError(
                f"there is no change {id_}; see: hermes-gateway aliases history"
            )
        return record

    # --- underneath --------------------------------------------------------------------------

    async def _loaded(self) -> Loaded:
        return await asyncio.to_thread(self._load)

    async def _ground(
        self, loaded: Loaded, look: Callable[[Connection], Census] = census.take
    ) -> Ground:
        found = await self._read(look, census.NOBODY)
        rules = identity_rules(loaded.settings, loaded.honcho)
        return Ground(found, rules, self._stand_in(loaded))

    async def _read(self, fn: Callable[[Connection], T], otherwise: T) -> T:
        return otherwise if self._store is None else await self._store.read(fn)

    def _writable(self) -> Store:
        if self._store is None:
            raise ConfigurationError("there is no database yet: start with hermes-gateway run")
        return self._store


def _rewrite(loaded: Loaded, seen: Preview) -> None:
    path = loaded.honcho_file
    changes = {edit.path: REMOVE if edit.after is None else edit.after for edit in seen.edits}
    rewrite.edit_honcho(path, loaded.digests[path], changes, hosts=loaded.hosts)
