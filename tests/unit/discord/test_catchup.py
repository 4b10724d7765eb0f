"""Reading a channel back while sessions come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.discord.catchup import CatchUp
from tests.fakes.skipping import SkippingClock

if TYPE_CHECKING:
    from collections.abc import Sequence

CHANNEL = "7"


class Discord:
    """A channel whose history is asked for; a new session begins behind the first page."""

    def __init__(self) -> None:
        self.said = [{"id": "11"}]
        self.taken: list[str] = []
        me: Any = self
        self.catch_up = CatchUp(me, me, me, me, SkippingClock(), hand_in=self._live)
        self._asked = 0

    async def history(self, channel: str, after: str) -> list[dict[str, Any]]:
        self._asked += 1
        page = [each for each in self.said if int(each["id"]) > int(after)]
        if self._asked == 1:
            self.said.append({"id": "12"})  # no session is open: no event tells of it
            assert not self.catch_up.claim(channel)
        return page

    def read(self, kind: str, message: dict[str, Any]) -> str:
        return str(message["id"])

    async def accept(self, channel: str, received: Sequence[str], upto: str) -> None:
        self.taken += received

    async def sweep(self, page: object) -> None:
        pass

    async def _live(self, event: object) -> None:
        raise AssertionError("nothing came live")


async def test_what_was_said_between_two_sessions_is_read_too() -> None:
    discord = Discord()
    assert discord.catch_up.claim(CHANNEL)
    await discord.catch_up.read(CHANNEL, "10", None)
    assert discord.taken == ["11", "12"]
    assert discord.catch_up.claim(CHANNEL)  # and it is left alone again
