"""How far each channel has been read, kept with the events in the intake's cursors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.discord.manifest import DISCORD
from gateway.ports import Cursor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model.ids import AccountId
    from gateway.ports import Intake, Received


class Cursors:
    """Cursors of one account. A cursor never goes back, whatever is delivered twice.

    ``directs`` is the list of direct channels, which Discord does not tell a bot that starts;
    each stands there with the id before its first message.
    """

    def __init__(self, account: AccountId, intake: Intake) -> None:
        self._account = account
        self._intake = intake
        self._newest: dict[str, int] = {}
        self._directs: dict[str, str] | None = None

    async def stored(self, channel: str) -> str | None:
        """Return the last message of a channel that is stored."""
        return await self._intake.cursor(self._name(channel))

    async def directs(self) -> dict[str, str]:
        """Return where to go on reading for each direct channel."""
        known = await self._known_directs()
        return {channel: await self.stored(channel) or start for channel, start in known.items()}

    async def accept(self, channel: str, received: Sequence[Received], upto: str) -> None:
        """Store events and that ``channel`` is read up to a message. Raises ``StoreError``."""
        await self._intake.accept((DISCORD, self._account), received, self._cursor(channel, upto))
        self._newest[channel] = max(self._newest.get(channel, 0), int(upto))

    async def accept_beside(self, received: Received) -> None:
        """Store an event that is no message of its channel. Raises ``StoreError``."""
        await self._intake.accept((DISCORD, self._account), [received])

    async def remember_direct(self, channel: str, message: str) -> None:
        """Make sure that a direct channel will be asked after a restart."""
        known = await self._known_directs()
        if channel in known:
            return
        listed = known | {channel: str(int(message) - 1)}
        value = " ".join(f"{each}:{start}" for each, start in listed.items())
        cursor = Cursor(self._name("directs"), value)
        await self._intake.accept((DISCORD, self._account), [], cursor)
        self._directs = listed

    async def _known_directs(self) -> dict[str, str]:
        if self._directs is None:
            value = await self._intake.cursor(self._name("directs")) or ""
            pairs = (item.partition(":") for item in value.split())
            self._directs = {channel: start for channel, _, start in pairs}
        return self._directs

    def _cursor(self, channel: str, upto: str) -> Cursor | None:
        if int(upto) <= self._newest.get(channel, 0):
            return None
        return Cursor(self._name(channel), upto)

    def _name(self, what: str) -> str:
        return f"{DISCORD}:{self._account}:{what}"
