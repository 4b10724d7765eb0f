"""Seeding: what was written down before there was memory reaches the service, in the background.

SOUL.md, IDENTITY.md and AGENTS.md go to the agent's peer, in a session that holds nothing else.
MEMORY.md and USER.md go to the owner's peer alone, once, in a session of the owner's.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from gateway.memory.entries import Target
from gateway.model.errors import MemoryRejectedError, MemoryServiceError
from gateway.model.ids import LedgerKey, SessionId
from gateway.model.memory import MemoryMessage
from gateway.policy import naming, observation
from gateway.policy.saving import BATCH
from gateway.settings import files
from gateway.store import facts
from gateway.text.chunk import chunks
from gateway.text.marks import break_up

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from datetime import datetime

    from gateway.memory.rules import CaptureRules
    from gateway.model.ids import PeerId
    from gateway.model.memory import Observation
    from gateway.ports import Clock, Memory
    from gateway.settings.home import Home
    from gateway.store.engine import Connection, Store, Tx

log = structlog.get_logger(__name__)

#: prefix of the facts that say what was uploaded
SEEDED = "seed:"
#: seconds between looks at the files, and until the next one after a failure, at least
INTERVAL, PAUSE = 15.0, 30.0

_WRAPPED = "<{tag}>\n<source>{source}</source>\n\n{text}\n</{tag}>"
_IDENTITY, _NOTES = "ai_identity_seed", "prior_memory_file"


@dataclass(frozen=True, slots=True)
class SeedRules:
    """One consistent set; a look at the files reads it anew."""

    capture: CaptureRules
    workspace: str
    #: the peer of ``peerName``; None: nobody owns the home's files
    owner: PeerId | None


@dataclass(frozen=True, slots=True)
class _Source:
    """One file and whose words it holds."""

    path: Path
    peer: PeerId
    session: SessionId
    members: dict[PeerId, Observation]
    tag: str
    #: the first content alone: what comes after it was said in conversations
    once: bool


def seed_session(host: str, agent: PeerId) -> SessionId:
    """Return the session that holds an agent's own files."""
    return _named("seed", host, agent)


def notes_session(host: str, owner: PeerId) -> SessionId:
    """Return the session that holds what the owner's files said before there was memory."""
    return _named("notes", host, owner)


def _named(head: str, host: str, peer: PeerId) -> SessionId:
    tail = naming.digest(f"{head}\n{host}\n{peer}")[:16]
    return SessionId(f"{head}-{peer[:60]}-{tail}")


class Seed:
    """Looks at the files until cancelled. Nobody waits for it."""

    def __init__(
        self,
        home: Home,
        store: Store,
        clock: Clock,
        *,
        memory: Memory,
        rules: Callable[[], SeedRules],
        introduce: Callable[[], Awaitable[None]],
        seeded: Callable[[], None],
    ) -> None:
        """``introduce`` notes the agent in the workspace; ``seeded`` hears of an upload."""
        self._home = home
        self._store = store
        self._clock = clock
        self._memory = memory
        self._rules = rules
        self._introduce = introduce
        self._seeded = seeded
        #: records of this process's life that need no second look
        self._done: set[str] = set()
        self._told: dict[Path, str] = {}

    async def run(self) -> None:
        """Look until cancelled; a service that is down postpones it."""
        while True:
            await self._clock.sleep(await self.look())

    async def look(self) -> float:
        """Upload what is new and return the seconds until the next look."""
        rules = self._rules()
        try:
            if not (rules.capture.skip_user and rules.capture.skip_agent):
                await self._introduce()
            for source in _sources(self._home, rules):
                await self._seed(source, rules)
        except MemoryServiceError as error:
            if error.code != "memory_starting":  # our own one: it is only not there yet
                log.info("memory.not_seeded", action="seed", code=error.code)
            return max(PAUSE, error.retry_after or 0.0)
        return INTERVAL

    async def _seed(self, source: _Source, rules: SeedRules) -> None:
        text, digest = await self._read(source.path)
        if not text:
            return
        prefix = _prefix(source, rules)
        if prefix + digest in self._done:
            return
        wanted = prefix if source.once else prefix + digest
        if not await self._store.read(lambda conn: _recorded(conn, wanted)):
            try:
                await self._upload(source, text, prefix + digest, rules.capture.part_limit)
            except MemoryRejectedError as error:
                log.error(
                    "memory.seed_refused",
                    action="seed",
                    file=source.path.name,
                    error=str(error),
                )
            else:
                await self._store.write(lambda tx: self._record(tx, source, prefix + digest))
                self._seeded()
        self._done.add(prefix + digest)

    async def _read(self, path: Path) -> tuple[str, str]:
        """Return text and digest, ("", "") where there is nothing that can be read."""
        problem = ""
        try:
            content = await asyncio.to_thread(files.load, path)
        except files.UnreadableError as error:
            content, problem = None, error.problem
        if problem != self._told.get(path, ""):
            self._told[path] = problem
            log.warning("memory.seed_unread", action="seed", file=path.name, problem=problem)
        return ("", "") if content is None else (content.text.strip(), content.digest)

    async def _upload(self, source: _Source, text: str, record: str, limit: int) -> None:
        await upload(self._memory, source, text, record, limit=limit, now=self._clock.now())

    def _record(self, tx: Tx, source: _Source, record: str) -> None:
        note(tx, source, record, now=self._clock.now())


async def upload(
    memory: Memory, source: _Source, text: str, record: str, *, limit: int, now: datetime
) -> int:
    """Make sure that the service holds a file: all of it, once. Returns how many parts it has."""
    name = source.path.name
    whole = break_up(_WRAPPED.format(tag=source.tag, source=name, text=text))
    key = naming.digest(record)[:32]
    parts = [
        MemoryMessage(LedgerKey(f"seed-{key}.{number}"), source.peer, part.text, now)
        for number, part in enumerate(chunks(whole, limit), 1)
    ]
    await memory.open_session(source.session, source.members)
    present = await memory.stored(source.session, [part.key for part in parts])
    missing = [part for part in parts if part.key not in present]
    for start in range(0, len(missing), BATCH):
        await memory.add(source.session, missing[start : start + BATCH])
    log.info("memory.seeded", action="seed", file=name, peer=source.peer, parts=len(parts))
    return len(parts)


def note(tx: Tx, source: _Source, record: str, *, now: datetime) -> None:
    """Record that the service holds a file."""
    told = {"file": source.path.name, "peer": source.peer, "session": source.session}
    facts.put(tx, record, json.dumps(told), now=now)


@dataclass(frozen=True, slots=True)
class Handed:
    """A file that an operator gives to the agent's peer, besides those that are looked for."""

    source: _Source
    text: str
    #: what it is recorded under
    record: str

    @property
    def session(self) -> SessionId:
        """The session that it is kept in."""
        return self.source.session


def hand_over(path: Path, rules: SeedRules) -> Handed:
    """Read a file for the agent's peer. Raises ``UnreadableError`` where there is none to read."""
    content = files.load(path)
    text = "" if content is None else content.text.strip()
    if content is None or not text:
        raise files.UnreadableError("nothing is written there; name a file with text")
    source = _of_agent(path, rules.capture)
    return Handed(source, text, _prefix(source, rules) + content.digest)


def hand_down(name: str, text: str, rules: SeedRules, *, owner: PeerId | None) -> Handed:
    """Return what another product wrote down, for the agent's peer or (``owner``) the owner's.

    ``name`` is shown as its source; it must be none that is looked for in the home.
    """
    source = _of_agent(Path(name), rules.capture)
    if owner is not None:
        source = _of_owner(Path(name), rules.capture, owner)
    return Handed(source, text.strip(), _prefix(source, rules) + naming.digest(text))


def _of_owner(path: Path, capture: CaptureRules, owner: PeerId) -> _Source:
    person = observation.of_person(capture.observation, alone=True, attributed=True)
    members = {capture.agent_peer: capture.observation.agent, owner: person}
    session = notes_session(capture.agent, owner)
    return _Source(path, owner, session, members, _NOTES, once=True)


def _of_agent(path: Path, capture: CaptureRules) -> _Source:
    agent = capture.agent_peer
    members = {agent: capture.observation.agent}
    return _Source(path, agent, seed_session(capture.agent, agent), members, _IDENTITY, once=False)


def _sources(home: Home, rules: SeedRules) -> Iterator[_Source]:
    capture = rules.capture
    if not capture.skip_agent:
        for path in (home.soul, home.identity, home.agents):
            yield _of_agent(path, capture)
    if rules.owner is not None and not capture.skip_user:
        for target in (Target.MEMORY, Target.USER):
            yield _of_owner(home.memories / target.file, capture, rules.owner)


def _prefix(source: _Source, rules: SeedRules) -> str:
    """Return what the records of one (workspace, peer, file) begin with."""
    about = "\n".join((rules.workspace, source.peer, source.path.name))
    return f"{SEEDED}{naming.digest(about)[:32]}:"


def _recorded(conn: Connection, prefix: str) -> bool:
    return bool(facts.starting_with(conn, prefix))
