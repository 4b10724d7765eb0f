"""The turn: calls policies and stores in order, and decides nothing itself."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import structlog

from gateway.mailbox.lanes import Again, Done
from gateway.model.errors import AgentError, Disposition
from gateway.pipeline import request as requests
from gateway.pipeline.opening import OpenTurn, OrderedCommand, Settling
from gateway.pipeline.typing import typing
from gateway.ports import Answer
from gateway.store import outbox, turns
from gateway.text import catalog

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from gateway.mailbox.items import Item
    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.model.ids import AccountId, PlatformName
    from gateway.pipeline.attachments import Attachments, Received
    from gateway.pipeline.closing import Closing
    from gateway.pipeline.commands import Commands
    from gateway.pipeline.introduction import Introduction
    from gateway.pipeline.opening import Opening
    from gateway.pipeline.prefetch import Prefetch
    from gateway.pipeline.rules import Current
    from gateway.pipeline.running import Running
    from gateway.ports import Adapter, Agent, Clock, Preview, TurnRequest
    from gateway.store.engine import Tx
    from gateway.store.turns import Turn

log = structlog.get_logger(__name__)

#: status of the checkpoint of a turn that had to do without memory
COLD = "cold"
#: tries of one turn that fail by themselves
TRIES = 5


class _Steps:
    """The committed model steps of a turn under its lease."""

    def __init__(self, lease: Lease, turn: Turn) -> None:
        self._lease = lease
        self._turn = turn

    async def load(self) -> list[str]:
        return await self._lease.store.read(lambda conn: turns.steps(conn, self._turn.id))

    async def append(self, step: str) -> None:
        await self._lease.write(lambda tx: turns.add_step(tx, self._turn.id, step))


class Turns:
    """Handler of the ``turn`` lane."""

    def __init__(
        self,
        clock: Clock,
        current: Current,
        *,
        agent: Agent,
        adapters: Mapping[tuple[PlatformName, AccountId], Adapter],
        opening: Opening,
        attachments: Attachments,
        closing: Closing,
        commands: Commands,
        running: Running,
        prefetch: Prefetch,
        introduce: Introduction,
    ) -> None:
        self._clock = clock
        self._current = current
        self._agent = agent
        self._adapters = adapters
        self._opening = opening
        self._attachments = attachments
        self._closing = closing
        self._commands = commands
        self._running = running
        self._prefetch = prefetch
        self._introduce = introduce

    async def handle(self, lease: Lease) -> Outcome:
        """Answer the head of a conversation. What is committed on the way survives a crash."""
        match await lease.write(lambda tx: self._opening.open(tx, lease.item)):
            case Settling(delay):
                return Again(delay)
            case OrderedCommand(row):
                admin = bool(lease.item.payload.get("admin"))
                return Done(lambda tx: self._commands.run(tx, row, admin=admin))
            case OpenTurn(expired=True) as opened:
                rules = self._current.rules
                return Done(lambda tx: self._closing.expired(tx, opened, rules))
            case OpenTurn() as opened:
                return await self._answer(lease, opened)

    def bury(self, tx: Tx, item: Item, error: str) -> None:
        """``on_dead`` of the lane: the turn is given up and its person told."""
        opened = self._opening.reopen(tx, item)
        if opened is None:
            self._commands.bury(tx, item, error)
            return
        log.error("turn.dead", action="turn", turn=opened.turn.id, code=error)
        self._closing.dead(tx, opened, self._current.rules, error=error)

    async def _answer(self, lease: Lease, opened: OpenTurn) -> Outcome:
        turn = opened.turn
        adapter = self._adapters.get((turn.address.platform, turn.address.account))
        with self._running.enter(turn.conversation) as stop:
            async with typing(adapter, turn.address, self._clock):
                received = await self._attachments.receive(lease, opened, adapter, stop)
                if received.nothing:
                    return self._failed(received, received.complaint, code="attachments")
                try:
                    answer, behind = await self._run(lease, received, adapter, stop)
                except AgentError as error:
                    if error.disposition is Disposition.RETRY and lease.item.attempts < TRIES:
                        raise
                    told = catalog.text(error.user_text or "failed.model", turn.language)
                    return self._failed(received, told, code=error.code)
        return await self._answered(received, answer, behind)

    async def _answered(self, received: Received, answer: Answer, behind: str) -> Outcome:
        opened, rules = received.opened, self._current.rules
        closed = await self._closing.compose(opened.turn, answer, behind)
        log.info("turn.answered", action="turn", turn=opened.turn.id, model=answer.model)
        return Done(lambda tx: self._closing.answered(tx, opened, closed, rules))

    def _failed(self, received: Received, told: str, *, code: str) -> Outcome:
        opened, rules = received.opened, self._current.rules
        log.warning("turn.failed", action="turn", turn=opened.turn.id, code=code)
        return Done(lambda tx: self._closing.failed(tx, opened, told, rules, error=code))

    async def _run(
        self, lease: Lease, received: Received, adapter: Adapter | None, stop: asyncio.Event
    ) -> tuple[Answer, str]:
        """Return the answer, and what its person is told behind it (Markdown)."""
        opened, rules = received.opened, self._current.rules
        turn = opened.turn
        # Read behind ``Running.enter``: a stop is either found here or reaches the signal.
        request = await lease.store.read(partial(requests.build, received=received))
        if request is None:
            return Answer("", stopped=True), ""
        recalled = await self._prefetch.for_turn(lease.write, opened, rules)
        request = await self._introduce(lease, opened, replace(request, recall=recalled.text))
        cold = recalled.cold
        tell = bool(cold) and await lease.write(lambda tx: self._first_of(tx, turn, cold))
        preview = await self._preview(lease, adapter, turn)
        answer = await self._stream(preview, _Steps(lease, turn), request, stop)
        return answer, catalog.text("cold", turn.language) if tell else ""

    def _first_of(self, tx: Tx, turn: Turn, outage: str) -> bool:
        """Note that a turn went without memory; tell whether it is its session's first to."""
        if turns.told(tx.conn, turn, COLD, outage):
            return False
        turns.mark(tx, turn.id, "recalled", COLD, detail=outage, now=self._clock.now())
        return True

    async def _preview(self, lease: Lease, adapter: Adapter | None, turn: Turn) -> Preview | None:
        """Return what shows the answer while it is written.

        None while an earlier answer is on its way there: the one that is shown would stand
        before it for good.
        """
        if adapter is None or not self._current.rules.conversations.streaming:
            return None
        if await lease.store.read(lambda conn: outbox.owed(conn, turn.address)):
            return None
        return adapter.preview(turn.address, turn.id, turn.reply_to)

    async def _stream(
        self,
        preview: Preview | None,
        steps: _Steps,
        request: TurnRequest,
        stop: asyncio.Event,
    ) -> Answer:
        shown: list[str] = []

        def emit(piece: str) -> None:
            if preview is not None:
                shown.append(piece)
                preview.update("".join(shown))

        try:
            return await self._agent.run(request, steps=steps, emit=emit, stop=stop)
        finally:
            if preview is not None:
                await preview.close()
