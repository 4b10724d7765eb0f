"""What the agent is told before a person's words: who asks, their notes, their commands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.model.events import PlaceKind
from gateway.pipeline.prefetch import asker
from gateway.policy.surface import surface

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.mailbox.lanes import Lease
    from gateway.memory.snapshot import Snapshots
    from gateway.pipeline.opening import OpenTurn
    from gateway.pipeline.rules import Current, Rules
    from gateway.ports import TurnRequest


class Introduction:
    """Completes a turn's request. All that it adds stays the same for a person's session."""

    def __init__(
        self,
        current: Current,
        snapshots: Snapshots,
        *,
        chat: Sequence[str],
        terminal: Mapping[str, Sequence[str]],
    ) -> None:
        """``chat`` and ``terminal``: the commands that there are in chats, on the command line."""
        self._current = current
        self._snapshots = snapshots
        self._chat = chat
        self._terminal = terminal

    async def __call__(self, lease: Lease, opened: OpenTurn, request: TurnRequest) -> TurnRequest:
        """Return ``request`` with asker, frozen notes and commands."""
        rules = self._current.rules
        who = asker(opened, rules)
        operator = bool(lease.item.payload.get("admin")) and _alone(opened)
        return replace(
            request,
            asker=who,
            memory=await self._snapshots.for_turn(lease.write, who),
            commands=surface(
                opened.turn.session,
                _mode(rules),
                chat=self._chat,
                terminal=self._terminal if operator else None,
            ),
        )


def _alone(opened: OpenTurn) -> bool:
    return opened.rows[-1].event.place.kind is PlaceKind.DIRECT


def _mode(rules: Rules) -> str:
    if rules.recall.inject:
        return "hybrid" if rules.tools.shown else "context"
    return "tools"
