"""One home's people: who wrote, what the files say, and the service that keeps both together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gateway import app
from gateway.people import Applied, Author, Change, People
from gateway.store import people
from gateway.store.people import Account
from gateway.store.sqlite import SqliteStore
from tests.fakes.clock import FakeClock

if TYPE_CHECKING:
    from gateway.people import Conflict
    from gateway.ports import Clock
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded

MIRA = Account("telegram", "", "700100200")
MIRA_TOO = Account("discord", "", "812345678901234567")
TOBIAS = Account("telegram", "", "700100201")
SLACK = Account("slack", "T0AAA", "U0BBB")
OPERATOR = Author("operator", "because")


class Town:
    """The home and its service."""

    def __init__(self, home: Home, clock: Clock | None = None) -> None:
        self.home = home
        self.store = SqliteStore(home.database)
        self.clock: Clock = clock or FakeClock()
        self.service = self.another()

    def another(self) -> People:
        """Return a second service over the same home, as another process has it."""
        return People(
            self.store,
            self.clock,
            self.load,
            stand_in=lambda _loaded: "system-user",
            platforms=frozenset(app.capabilities()),
        )

    def load(self) -> Loaded:
        return app.load(self.home, {})

    @property
    def file(self) -> Any:
        return self.home.path / "honcho.json"

    def honcho(self, **keys: Any) -> None:
        """Write honcho.json as an editor would."""
        self.file.write_text(json.dumps(keys, indent=2))

    def written(self) -> Any:
        """Return what honcho.json says."""
        return json.loads(self.file.read_text())

    async def wrote(self, *accounts: Account, name: str = "", **known: Any) -> None:
        """Somebody wrote from each of these."""

        def write(tx: Any) -> None:
            for account in accounts:
                people.seen(
                    tx,
                    account,
                    name=name or account.user_id,
                    language=known.get("language", ""),
                    kind=known.get("kind", "person"),
                    alternatives=known.get("alternatives", ()),
                    now=self.clock.now(),
                )

        await self.store.write(write)

    async def whose(self, account: Account) -> str:
        """Return the peer of an account."""
        wanted = ":".join(filter(None, account))
        return next(one.peer for one in await self.service.accounts() if one.key == wanted)

    async def apply(self, change: Change, author: Author = OPERATOR) -> Applied:
        """Make a change that nobody comes in between of."""
        seen = await self.service.preview(change)
        result = await self.service.apply(change, expected=seen.revision, author=author)
        assert isinstance(result, Applied)
        return result

    async def set(self, **targets: str | None) -> Applied:
        """Set aliases; the keys are ``platform_id``."""
        typed = {key.replace("_", ":", 1): name for key, name in targets.items()}
        return await self.apply(self.service.aliased(typed))

    async def collide(self, change: Change, revision: str) -> Conflict:
        """Make a change that somebody came in between of."""
        result = await self.service.apply(change, expected=revision, author=OPERATOR)
        assert not isinstance(result, Applied)
        return result
