"""What the home's files say reaches the right peer of the service, once, and costs nobody time."""

from __future__ import annotations

import shutil
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from gateway.memory.seed import INTERVAL, PAUSE, Seed, SeedRules, notes_session, seed_session
from gateway.model.errors import MemoryAmbiguousError, MemoryUnavailableError
from gateway.model.ids import PeerId
from gateway.model.memory import Observation
from gateway.policy import observation
from gateway.settings.home import Home
from gateway.store.sqlite import SqliteStore
from tests.fakes.clock import FakeClock
from tests.fakes.memory import FakeMemory
from tests.integration.memory.scribe import AGENT, MIRA, RULES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from gateway.model.ids import SessionId
    from gateway.model.memory import MemoryMessage

IDENTITY = seed_session("hermes", AGENT)
NOTES = notes_session("hermes", MIRA)


@dataclass(slots=True)
class Service(FakeMemory):
    """Remembers who was made a member of what; ``loses`` answers of ``add`` that were done."""

    members: dict[str, Mapping[PeerId, Observation]] = field(default_factory=dict)
    loses: int = 0

    async def open_session(
        self, session: SessionId, peers: Mapping[PeerId, Observation]
    ) -> Mapping[PeerId, Observation]:
        self.members[session] = peers
        return await FakeMemory.open_session(self, session, peers)

    async def add(self, session: SessionId, messages: Sequence[MemoryMessage]) -> None:
        await FakeMemory.add(self, session, messages)
        if self.loses:
            self.loses -= 1
            raise MemoryAmbiguousError


@dataclass(slots=True)
class Bench:
    """One home, its store and its service."""

    home: Home
    store: SqliteStore
    service: Service = field(default_factory=Service)
    rules: SeedRules = field(default_factory=lambda: SeedRules(RULES, "household", MIRA))
    introduced: int = 0
    uploads: int = 0

    def seed(self) -> Seed:
        """Return what a new process would have."""
        return Seed(
            self.home,
            self.store,
            FakeClock(),
            memory=self.service,
            rules=lambda: self.rules,
            introduce=self._introduce,
            seeded=self._seeded,
        )

    async def _introduce(self) -> None:
        self.introduced += 1

    def _seeded(self) -> None:
        self.uploads += 1

    def write(self, name: str, text: str) -> None:
        folder = self.home.memories if name in ("MEMORY.md", "USER.md") else self.home.path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    def texts(self, session: str) -> list[tuple[str, str]]:
        """Return (peer, text) of what the service was given for a session."""
        return [(row.peer, row.text) for row in self.service.rows.get(session, [])]


@pytest.fixture
async def bench(tmp_path: Path, template: Path) -> AsyncIterator[Bench]:
    async with opened(tmp_path, template) as made:
        yield made


@asynccontextmanager
async def opened(folder: Path, template: Path) -> AsyncIterator[Bench]:
    shutil.copy(template, folder / "gateway.db")
    store = SqliteStore(folder / "gateway.db")
    home = Home(folder / "hermes", folder / "user")
    home.path.mkdir()
    yield Bench(home, store)
    await store.close()


async def test_who_the_agent_is_goes_to_its_own_peer_with_its_source(bench: Bench) -> None:
    for name in ("SOUL.md", "IDENTITY.md", "AGENTS.md"):
        bench.write(name, f"Words of {name}")
    assert await bench.seed().look() == INTERVAL
    assert bench.texts(IDENTITY) == [
        (
            AGENT,
            f"<ai_identity_seed>\n<source>{name}</source>\n\nWords of {name}\n</ai_identity_seed>",
        )
        for name in ("SOUL.md", "IDENTITY.md", "AGENTS.md")
    ]
    assert bench.service.members[IDENTITY] == {AGENT: Observation(True, True)}
    assert bench.uploads == 3


async def test_the_owners_files_go_to_the_owner_and_not_to_the_agents_session(
    bench: Bench,
) -> None:
    bench.write("USER.md", "Mira plays the cello.")
    bench.write("MEMORY.md", "The bike is in the cellar.")
    await bench.seed().look()
    assert bench.texts(IDENTITY) == []
    assert {peer for peer, _ in bench.texts(NOTES)} == {MIRA}
    said = "\n".join(text for _, text in bench.texts(NOTES))
    assert "cello" in said
    assert "cellar" in said
    assert bench.service.members[NOTES].keys() == {AGENT, MIRA}


async def test_nothing_is_uploaded_twice_by_this_process_or_the_next(bench: Bench) -> None:
    bench.write("SOUL.md", "Be kind.")
    bench.write("USER.md", "Mira plays the cello.")
    first = bench.seed()
    for seed in (first, first, bench.seed()):
        await seed.look()
    assert bench.service.calls["add"] == 2
    assert bench.uploads == 2


async def test_an_edited_identity_is_uploaded_and_an_edited_profile_is_not(bench: Bench) -> None:
    """What came into USER.md later was said in conversations, which the service has heard."""
    bench.write("SOUL.md", "Be kind.")
    bench.write("USER.md", "Mira plays the cello.")
    seed = bench.seed()
    await seed.look()
    bench.write("SOUL.md", "Be brief.")
    bench.write("USER.md", "Mira plays the flute.")
    await seed.look()
    await bench.seed().look()
    assert [text.split("\n")[3] for _, text in bench.texts(IDENTITY)] == ["Be kind.", "Be brief."]
    assert len(bench.texts(NOTES)) == 1


@pytest.mark.parametrize(
    "changed",
    [{"workspace": "another"}, {"owner": PeerId("anna")}],
)
async def test_another_workspace_or_owner_gets_the_files_too(
    bench: Bench, changed: dict[str, str]
) -> None:
    bench.write("USER.md", "Mira plays the cello.")
    await bench.seed().look()
    bench.rules = replace(bench.rules, **changed)  # type: ignore[arg-type]
    bench.service.rows.clear()
    await bench.seed().look()
    assert sum(map(len, bench.service.rows.values())) == 1


async def test_without_an_owner_the_owners_files_stay_here(bench: Bench) -> None:
    bench.write("USER.md", "Mira plays the cello.")
    bench.rules = replace(bench.rules, owner=None)
    await bench.seed().look()
    assert bench.service.rows == {}


@pytest.mark.parametrize("bad", [b"\xff\xfeB\x00", b"caf\xe9", b"", b" \n"])
async def test_what_cannot_be_read_is_neither_uploaded_nor_recorded(
    bench: Bench, bad: bytes
) -> None:
    bench.home.soul.write_bytes(bad)
    seed = bench.seed()
    await seed.look()
    assert bench.service.rows == {}
    bench.write("SOUL.md", "Be kind.")
    await seed.look()
    assert len(bench.texts(IDENTITY)) == 1


async def test_a_service_that_is_down_postpones_it(bench: Bench) -> None:
    bench.write("SOUL.md", "Be kind.")
    seed = bench.seed()
    bench.service.error = MemoryUnavailableError(retry_after=300.0)
    assert await seed.look() == 300.0
    bench.service.error = None
    assert await seed.look() == INTERVAL
    assert len(bench.texts(IDENTITY)) == 1


async def test_an_upload_whose_answer_is_lost_is_not_repeated(bench: Bench) -> None:
    bench.write("SOUL.md", "word " * 20_000)
    bench.service.loses = 1
    seed = bench.seed()
    assert await seed.look() == PAUSE
    assert await seed.look() == INTERVAL
    markers = [text.split(" ", 1)[0] for _, text in bench.texts(IDENTITY)]
    assert markers == ["[1/5]", "[2/5]", "[3/5]", "[4/5]", "[5/5]"]


@pytest.mark.parametrize(
    ("skipped", "left"),
    [
        ({"skip_user": "saveMessages", "skip_agent": "saveMessages"}, set()),
        ({"skip_user": "userMemoryMode"}, {IDENTITY}),
        ({"skip_agent": "agentMemoryMode"}, {NOTES}),
    ],
)
async def test_whose_words_are_not_saved_is_not_seeded_either(
    bench: Bench, skipped: dict[str, str], left: set[str]
) -> None:
    bench.write("SOUL.md", "Be kind.")
    bench.write("USER.md", "Mira plays the cello.")
    bench.rules = replace(bench.rules, capture=replace(RULES, **skipped))  # type: ignore[arg-type]
    await bench.seed().look()
    assert bench.service.rows.keys() == left
    assert bench.introduced == bool(left)


async def test_the_unified_preset_does_not_observe_the_agent(bench: Bench) -> None:
    flags = observation.rules("unified", Observation(), Observation())
    bench.rules = replace(bench.rules, capture=replace(RULES, observation=flags))
    bench.write("SOUL.md", "Be kind.")
    await bench.seed().look()
    assert bench.service.members[IDENTITY] == {AGENT: Observation(False, True)}


def test_the_sessions_of_two_hosts_and_two_peers_are_four() -> None:
    names = {
        make(host, PeerId(peer))
        for make in (seed_session, notes_session)
        for host in ("hermes", "hermes_work")
        for peer in ("mira", "x" * 100)
    }
    assert len(names) == 8
    assert max(map(len, names)) <= 100
