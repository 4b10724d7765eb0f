"""The turn: calls policies and stores in order, and decides nothing itself."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import structlog

from gateway.mailbox.lanes import Again, Done
from gateway.model.errors import AgentError, Disposition
from gateway.pipeline.opening import OpenTurn, OrderedCommand, Settling
from gateway.pipeline.prefetch import asker
from gateway.pipeline.typing import typing
from gateway.ports import Answer, HistoryMessage, Spoken, TurnRequest
from gateway.store import ledger, messages, turns

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from gateway.mailbox.items import Item
    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.model.ids import AccountId, PlatformName
    from gateway.pipeline.closing import Closing
    from gateway.pipeline.commands import Commands
    from gateway.pipeline.opening import Opening
    from gateway.pipeline.prefetch import Prefetch
    from gateway.pipeline.rules import Current
    from gateway.pipeline.running import Running
    from gateway.ports import Adapter, Agent, Clock
    from gateway.store.engine import Connection, Tx
    from gateway.store.turns import Turn

log = structlog.get_logger(__name__)

#: tries of one turn, crashes of the process included
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
        closing: Closing,
        commands: Commands,
        running: Running,
        prefetch: Prefetch,
    ) -> None:
        self._clock = clock
        self._current = current
        self._agent = agent
        self._adapters = adapters
        self._opening = opening
        self._closing = closing
        self._commands = commands
        self._running = running
        self._prefetch = prefetch

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
        turn, rules = opened.turn, self._current.rules
        try:
            answer = await self._run(lease, opened)
        except AgentError as error:
            if error.disposition is Disposition.RETRY and lease.item.attempts < TRIES:
                raise
            text, code = error.user_text or "failed.model", error.code
            log.warning("turn.failed", action="turn", turn=turn.id, code=code)
            return Done(lambda tx: self._closing.failed(tx, opened, text, rules, error=code))
        closed = self._closing.compose(turn, answer)
        log.info("turn.answered", action="turn", turn=turn.id, model=answer.model)
        return Done(lambda tx: self._closing.answered(tx, opened, closed, rules))

    async def _run(self, lease: Lease, opened: OpenTurn) -> Answer:
        turn = opened.turn
        with self._running.enter(turn.conversation) as stop:
            # Read behind ``enter``: a stop is either found here or reaches the signal.
            request = await lease.store.read(partial(_request, opened=opened))
            if request is None:
                return Answer("", stopped=True)
            adapter = self._adapters.get((turn.address.platform, turn.address.account))
            async with typing(adapter, turn.address, self._clock):
                rules = self._current.rules
                recalled = await self._prefetch.for_turn(lease.write, opened, rules)
                request = replace(request, recall=recalled, asker=asker(opened, rules))
                return await self._stream(adapter, _Steps(lease, turn), request, turn, stop)

    async def _stream(
        self,
        adapter: Adapter | None,
        steps: _Steps,
        request: TurnRequest,
        turn: Turn,
        stop: asyncio.Event,
    ) -> Answer:
        preview = None
        if adapter is not None and self._current.rules.conversations.streaming:
            preview = adapter.preview(turn.address, turn.id, turn.reply_to)
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


def _request(conn: Connection, *, opened: OpenTurn) -> TurnRequest | None:
    """Return what the agent is asked, None where the person has stopped the turn."""
    turn = turns.load(conn, opened.turn.id) or opened.turn
    if turn.stop_requested:
        return None
    said = ledger.history(conn, turn.session)
    return TurnRequest(
        turn=turn.id,
        spoken=tuple(
            Spoken(
                text=row.event.text,
                sent_at=row.event.sent_at,
                author=row.event.sender.name,
                reply=row.event.reply,
                forward=row.event.forward,
                attachments=row.event.attachments,
            )
            for row in opened.rows
        ),
        history=tuple(
            HistoryMessage(one.role == messages.USER, one.text, one.author) for one in said
        ),
        shared=not opened.personal,
    )
