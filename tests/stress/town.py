"""One gateway between three emulated platforms, and what became of every word said there."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections import Counter
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from gateway import app
from gateway.ports import Answer
from gateway.settings.home import Home

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path
    from random import Random

    from gateway.ports import StepLog, TurnRequest
    from tests.stress.fronts import Front

#: seconds of the gateway in a real one
SPEED = 20.0


class FastClock:
    """A ``gateway.ports.Clock`` that runs ahead of the real one."""

    def __init__(self) -> None:
        self._began, self._start = time.monotonic(), datetime.now(UTC)

    def now(self) -> datetime:
        """See ``gateway.ports.Clock``."""
        return self._start + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """See ``gateway.ports.Clock``."""
        return (time.monotonic() - self._began) * SPEED

    async def sleep(self, seconds: float) -> None:
        """See ``gateway.ports.Clock``."""
        await asyncio.sleep(seconds / SPEED)


class Echo:
    """An agent that says again what was said, line by line, some of it while it is written."""

    def __init__(self, clock: FastClock, chance: Random) -> None:
        self._clock = clock
        self._chance = chance

    async def run(
        self,
        request: TurnRequest,
        *,
        steps: StepLog,
        emit: Callable[[str], None],
        stop: asyncio.Event,
    ) -> Answer:
        """See ``gateway.ports.Agent``."""
        for _ in range(self._chance.choice((0, 0, 0, 1, 2))):
            emit("… ")
            await self._clock.sleep(self._chance.uniform(0.0, 2.0))
        return Answer("\n".join(spoken.text for spoken in request.spoken))

    async def aclose(self) -> None:
        """See ``gateway.ports.Agent``."""


class Town:
    """A home with every platform switched on; everybody may talk."""

    def __init__(self, folder: Path, fronts: Sequence[Front], chance: Random) -> None:
        self.home = Home(folder / "hermes", folder / "user")
        self.fronts = {front.name: front for front in fronts}
        self.clock = FastClock()
        self.agent = Echo(self.clock, chance)
        #: (platform, person) → what they said, in order
        self.said: dict[tuple[str, int], list[str]] = {}
        self.home.path.mkdir(parents=True)
        self.home.user.mkdir()
        self.home.env.write_text("\n".join(front.secrets for front in fronts) + "\n")
        self.home.env.chmod(0o600)
        config = {
            "access": {
                "allow_all": {front.name: True for front in fronts},
                "rate": {"per_minute": 1_000_000},
            },
            "platforms": {front.name: front.settings for front in fronts},
            "memory": {"provider": "honcho"},
            "web": {"enabled": False},
        }
        self.home.config.write_text(json.dumps(config))
        (self.home.path / "honcho.json").write_text(json.dumps({"enabled": False}))

    # --- the gateway ----------------------------------------------------------------------

    @asynccontextmanager
    async def running(self, *, crash: bool = False) -> AsyncIterator[app.Gateway]:
        """Run a gateway for as long as the block; stop it as SIGTERM does, or at once."""
        start = app.Start(
            self.home, app.load(self.home, {}), lambda _tools: self.agent, clock=self.clock
        )
        gateway, stop = app.assemble(start), asyncio.Event()
        run = asyncio.create_task(gateway.run(stop))
        try:
            yield gateway
        finally:
            stop.set()
            if crash:
                run.cancel()
            await asyncio.wait_for(asyncio.gather(run, return_exceptions=True), 60)

    async def connected(self, gateway: app.Gateway, *names: str) -> None:
        """Wait until these platforms are."""
        wanted = [each for each in gateway.adapters if each.platform in names]
        await self.until(
            lambda: all(each.status.state == "connected" for each in wanted),
            lambda: f"connected: {[(each.platform, each.status) for each in wanted]}",
        )

    # --- what is said ---------------------------------------------------------------------

    def say(self, name: str, who: int) -> None:
        """Let a person say the next thing."""
        spoken = self.said.setdefault((name, who), [])
        text = f"{name[0]}{who}-{len(spoken):04}"
        spoken.append(text)
        self.fronts[name].say(who, text)

    async def quiet(self, *names: str, timeout: float = 60.0) -> None:
        """Wait until everything that was said there is taken, answered and sent."""
        spoken = {key: texts for key, texts in self.said.items() if not names or key[0] in names}
        wanted, where = sum(map(len, spoken.values())), names or tuple(self.fronts)

        def reached() -> bool:
            busy = any(self.fronts[name].busy() for name in where)
            return not busy and self._taken(where) >= wanted and not self._open(where)

        await self.until(
            reached,
            lambda: f"{self._taken(where)} of {wanted} taken, open: {self._open(where)}",
            timeout,
        )

    def _taken(self, names: Sequence[str]) -> int:
        """Return how many messages of people are stored."""
        rows = self.rows("SELECT platform FROM inbox WHERE state IN ('admitted', 'turn')")
        return sum(platform in names for (platform,) in rows)

    def _open(self, names: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return the turns and deliveries that wait or run."""
        rows = self.rows(
            "SELECT lane, key, state, attempts, error FROM item"
            " WHERE lane IN ('turn', 'deliver') AND state IN ('ready', 'running')"
        )
        return [row for row in rows if row[1].partition("/")[0] in names]

    async def until(
        self, reached: Callable[[], Any], what: Callable[[], str], timeout: float = 30.0
    ) -> None:
        """Wait for something that only the database or a platform shows."""
        try:
            async with asyncio.timeout(timeout):
                while not reached():  # noqa: ASYNC110  (files have no event to await)
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"not within {timeout:g} s: {what()}") from None

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds in the database."""
        address = f"{self.home.database.as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=10)) as conn:
            return conn.execute(sql, values).fetchall()

    # --- what became of it ----------------------------------------------------------------

    def unknown(self) -> set[str]:
        """Return what was said that parts of unknown fate answer."""
        found = self.rows(
            "SELECT m.text FROM outbox o JOIN message m ON m.turn = o.turn"
            " WHERE o.state = 'unknown' AND m.role = 'user'"
        )
        return {text for (text,) in found}

    def told(self, name: str, who: int) -> list[str]:
        """Return what a person said in the order in which the platform delivered it."""
        spoken = set(self.said[name, who])
        rows = self.rows(
            "SELECT m.text FROM inbox i JOIN message m ON m.id = i.message_id"
            " WHERE i.platform = ? ORDER BY i.id",
            name,
        )
        return [text for (text,) in rows if text in spoken]

    def verify(self) -> Counter[str]:
        """Check every conversation; return per platform what was said, and what is unknown."""
        unknown, counts = self.unknown(), Counter[str]()
        for (name, who), texts in self.said.items():
            answered = [
                line
                for text in self.fronts[name].answers(who)
                for line in text.splitlines()
                if line in texts
            ]
            lost = set(texts) - set(answered)
            doubled = {line for line in answered if answered.count(line) > 1}
            assert not doubled, f"{name} {who}: doubled {sorted(doubled)}"
            told = [text for text in self.told(name, who) if text in answered]
            assert answered == told, f"{name} {who}: out of order {answered}, was told {told}"
            assert lost <= unknown, f"{name} {who}: lost {sorted(lost - unknown)}"
            counts[name] += len(texts)
            counts[f"{name} unknown"] += len(unknown & set(texts))
            counts[f"{name} missing"] += len(lost)
        for name in ("discord", "slack"):
            assert not counts[f"{name} unknown"], f"{name}: unknown parts"
        assert not self.rows("SELECT * FROM outbox WHERE state = 'failed'"), "failed parts"
        dead = "SELECT lane, key, error FROM item WHERE state = 'dead'"
        assert self.rows(dead) == []
        states = {state for (state,) in self.rows("SELECT DISTINCT state FROM turn")}
        assert states <= {"settled"}, states
        return counts
