"""Saying something: a text becomes parts of its platform's size, and each part a delivery."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from gateway.model.ids import sortable_id
from gateway.pipeline.addresses import DELIVER
from gateway.store import outbox, places
from gateway.text.markup import parse
from gateway.text.split import split
from gateway.text.units import measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.model.capabilities import Capabilities
    from gateway.model.choice import Choice
    from gateway.model.ids import PlatformName
    from gateway.model.outbound import Address, RichText
    from gateway.ports import Clock
    from gateway.store.engine import Tx


class Mailbox(Protocol):
    """Where durable work is put: the running engine, or another process's note to it."""

    def put(
        self, tx: Tx, lane: str, key: str, *, dedupe: str, payload: Mapping[str, Any]
    ) -> int | None:
        """Add an item in the caller's transaction; None when it was put before."""
        ...


class Post:
    """Writes letters into the outbox. Knows sizes, not platforms."""

    def __init__(
        self,
        mailbox: Mailbox,
        clock: Clock,
        capabilities: Mapping[PlatformName, Capabilities],
    ) -> None:
        self._mailbox = mailbox
        self._clock = clock
        self._capabilities = capabilities

    def compose(self, platform: PlatformName, markdown: str) -> Sequence[RichText]:
        """Return ``markdown`` as parts that fit the platform; never empty for visible text."""
        facts = self._capabilities[platform]
        rich = parse(markdown)
        return split(
            rich,
            limit=facts.max_length,
            size=facts.measure or (lambda piece: measure(piece.text, facts.length_unit)),
            max_spans=facts.max_spans,
        )

    def has_users(self, platform: PlatformName) -> bool:
        """Tell whether people have accounts there; the console has none."""
        return self._capabilities[platform].has_users

    def takes_files(self, platform: PlatformName) -> bool:
        """Tell whether files can be sent there."""
        return self._capabilities[platform].max_upload > 0

    def send(self, tx: Tx, letter: outbox.Letter) -> None:
        """Put a letter's parts on their way, in order behind whatever its place waits for."""
        for part in outbox.post(tx, letter, now=self._clock.now()):
            self.deliver(tx, letter.address, part)

    def deliver(self, tx: Tx, where: Address, part: int, *, again: bool = False) -> None:
        """Ask for one stored part's delivery. A place that moves keeps its one order.

        Once for each part, except ``again``: behind what its place waits for now.
        """
        first = places.first(tx.conn, places.PlaceKey(where.platform, where.account, where.place))
        self._mailbox.put(
            tx,
            DELIVER,
            f"{where.platform}/{where.account}/{first}",
            dedupe=f"{part}/{sortable_id('d')}" if again else str(part),
            payload={"part": part},
        )

    def notice(self, tx: Tx, letter: outbox.Letter, markdown: str) -> None:
        """Send ``markdown`` in place of the letter's contents."""
        contents = self.compose(letter.address.platform, markdown)
        self.send(tx, replace(letter, contents=contents))

    def question(self, tx: Tx, letter: outbox.Letter, markdown: str, choice: Choice) -> None:
        """Send ``markdown`` with buttons; without them where the platform has none.

        The words that answer stand in the text at once where there would be no room for them
        behind it, should the platform refuse the buttons.
        """
        platform = letter.address.platform
        whole = self.compose(platform, f"{markdown}\n\n{choice.instead}")
        if not self._capabilities[platform].buttons:
            return self.send(tx, replace(letter, contents=whole))
        bare = self.compose(platform, markdown)
        if len(bare) < len(whole):
            bare, choice = whole, replace(choice, instead="")
        return self.send(tx, replace(letter, contents=bare, choice=choice))
