"""A change of who is who, beside the store: what cannot follow, and the row in the history."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from gateway.model.errors import StoreError
from gateway.ops.clock import SystemClock
from gateway.people import Author, Change, census
from gateway.people.preview import Ground, preview
from gateway.people.recording import recorded
from gateway.pipeline.rules import identity_rules
from gateway.policy import identity_change as policy
from gateway.setup import drafts
from gateway.setup.asking import NO, yes_or_no
from gateway.store import migrate, readonly
from gateway.store.sqlite import SqliteStore
from gateway.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gateway.people import Preview
    from gateway.people.census import Census
    from gateway.setup.drafts import Edit
    from gateway.setup.session import Session

    Keys = Mapping[policy.Path, policy.Value]

ACTOR = "setup"


def foreseen(session: Session) -> Preview:
    """Return what the change of who is who would do to what is remembered."""
    before, after = _keys(session)
    paths = [path for path in {**before, **after} if before.get(path) != after.get(path)]
    loaded = session.before
    rules = identity_rules(loaded.settings, loaded.honcho)
    ground = Ground(_census(session.bench.home.database), rules, session.bench.stand_in(loaded))
    return preview(ground, Change({path: after.get(path) for path in paths}))


def ask_follow(session: Session) -> None:
    """Ask whether memory shall follow, where somebody with memory moves."""
    seen = foreseen(session).rehoming
    if not seen.sessions:
        return
    text = (
        f"Remembered under the old name: {counted(seen.messages, 'message')} in "
        f"{counted(seen.sessions, 'session')} of those who move. Let them follow once this "
        f"is saved? It takes about {counted(seen.calls, 'request')} and can be undone."
    )
    session.follow = yes_or_no(session.asker, "who.follow", text, default=True, unsaid=NO)


def save(session: Session, edits: list[Edit]) -> int | None:
    """Write the files. Returns the id of the change of who is who, None where there is none.

    Raises what ``drafts.save`` raises.
    """
    home, keys = session.bench.home, _keys(session)
    if keys[0] == keys[1] or not _recordable(home.database):
        drafts.save(edits, home)
        return None
    return asyncio.run(_save_recorded(session, edits, keys))


async def _save_recorded(session: Session, edits: list[Edit], keys: tuple[Keys, Keys]) -> int:
    home = session.bench.home
    store = SqliteStore(home.database)
    try:
        async with recorded(store, SystemClock(), keys, Author(ACTOR)) as change:
            drafts.save(edits, home)
    finally:
        await store.close()
    return change


def _keys(session: Session) -> tuple[Keys, Keys]:
    """Return the identity keys now, and with the answers."""
    before, after = (
        policy.keys(identity_rules(one.settings, one.honcho))
        for one in (session.before, session.now)
    )
    return before, after


def _recordable(database: Path) -> bool:
    """Tell whether there is a history to write to: a database of this version's schema."""
    if not database.exists():
        return False
    with suppress(StoreError), readonly.look(database) as conn:
        return readonly.revision(conn) == migrate.HEAD
    return False


def _census(database: Path) -> Census:
    if not _recordable(database):
        return census.NOBODY
    with readonly.look(database) as conn:
        return census.take(conn, talk_too=True, sessions_too=True)
