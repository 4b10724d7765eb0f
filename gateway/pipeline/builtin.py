"""The built-in memory of one gateway process, put together: files, search, and their tools."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from gateway.memory.files import MemoryFiles
from gateway.memory.notes import NotesTool
from gateway.memory.searching import SearchTool
from gateway.memory.snapshot import Snapshots
from gateway.model.ids import PeerId
from gateway.pipeline.introduction import Introduction
from gateway.pipeline.notebook import Notebook, asking
from gateway.policy import naming
from gateway.store import search

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.memory.files import FileRules
    from gateway.pipeline.opening import Opening
    from gateway.pipeline.post import Post
    from gateway.pipeline.rules import Current
    from gateway.ports import AgentTool, Clock
    from gateway.settings.home import Home
    from gateway.store.engine import Store

log = structlog.get_logger(__name__)

#: messages that are indexed in one transaction
BATCH = 500


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """What the other parts need of it."""

    #: ``memory`` and ``session_search``
    tools: tuple[AgentTool, ...]
    #: answers ``/memory`` and ``/search``
    notebook: Notebook
    snapshots: Snapshots
    current: Current

    def introduction(
        self, *, chat: Sequence[str], terminal: Mapping[str, Sequence[str]]
    ) -> Introduction:
        """Return what tells the agent of a person's notes and of the commands that there are."""
        return Introduction(self.current, self.snapshots, chat=chat, terminal=terminal)


def open_builtin(
    home: Home, store: Store, clock: Clock, current: Current, *, post: Post, opening: Opening
) -> BuiltIn:
    """Put the built-in memory together; nothing is read or written yet."""
    files = MemoryFiles(home, lambda: file_rules(current))
    return BuiltIn(
        tools=(
            NotesTool(files, store, clock, asking(post, clock)).build(),
            SearchTool(store).build(),
        ),
        notebook=Notebook(clock, current, store=store, opening=opening, files=files),
        snapshots=Snapshots(files, store, clock),
        current=current,
    )


def file_rules(current: Current) -> FileRules:
    """Return the rules in force. Without peerName the home's files are the console person's."""
    rules = current.rules.notes
    if rules.owner is None and current.stand_in:
        return replace(rules, owner=PeerId(next(naming.candidates(current.stand_in))))
    return rules


async def index(store: Store) -> None:
    """Index what is not indexed yet: what was said before there was an index."""
    total = 0
    while added := await store.write(lambda tx: search.fill(tx, limit=BATCH)):
        total += added
    if total:
        log.info("search.indexed", action="search", messages=total)
