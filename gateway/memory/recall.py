"""Recall: what the agent is told about the person it answers.

Both layers are fetched between turns and kept in the store, so that from a person's second turn
on nothing is asked on the way to the answer. Only a first turn waits, for a bounded time.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import structlog

from gateway.memory.block import REPRESENTATION_LIMIT, Layer, compose, cut
from gateway.memory.dialectic import Dialectic, Inquiry
from gateway.model.errors import (
    MemoryLimitedError,
    MemoryServiceError,
    MemoryUnavailableError,
    MemoryUnsupportedError,
)
from gateway.model.memory import ContextQuery
from gateway.policy import reasoning
from gateway.store import ledger, recall

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gateway.model.ids import PeerId, SessionId, TurnId
    from gateway.policy.reasoning import DialecticRules
    from gateway.ports import Clock, Memory
    from gateway.store.engine import Connection, Store, Tx
    from gateway.store.recall import Base, Popped, RecallKey

log = structlog.get_logger(__name__)

T = TypeVar("T")

#: seconds for which the agent's own card is good
IDENTITY_AGE = 600.0
#: looks, a tenth of a second apart, for a service of our own that is starting
STARTING_TRIES = 30
#: sessions that are warmed when the process starts
WARM_SESSIONS = 50


class Writer(Protocol):
    """A turn's fenced writes (``Lease.write``)."""

    def __call__(self, fn: Callable[[Tx], T], /) -> Awaitable[T]:
        """Run ``fn`` in a transaction that proves that the turn is still held."""
        ...


@dataclass(frozen=True, slots=True)
class RecallRules:
    """The recall keys of the configuration; all waits in seconds."""

    inject: bool
    #: nothing is injected, so the session is opened for the tools when it begins
    open_at_start: bool
    context_tokens: int | None
    context_cadence: int
    dialectic: DialecticRules
    dialectic_chars: int
    dialectic_input_chars: int
    base_wait: float
    dialectic_wait: float
    agent: PeerId
    agent_observes: bool
    #: where the agent's own files were written to the service, if they were
    seed_session: SessionId | None
    #: changes whenever an identity key changes
    revision: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a turn was told of its person."""

    text: str = ""
    #: the turn went on without memory that there is: names the outage, over its turns; else ""
    cold: str = ""


@dataclass(slots=True)
class _Fetching:
    """What is on its way for one key."""

    base: asyncio.Task[None]
    dialectic: asyncio.Task[None]


class Recall:
    """Fetches, keeps and hands out what is recalled. Failures cost a layer, never a turn."""

    def __init__(
        self, store: Store, clock: Clock, memory: Memory, rules: Callable[[], RecallRules]
    ) -> None:
        self._store = store
        self._clock = clock
        self._memory = memory
        self._rules = rules
        self._fetching: dict[RecallKey, _Fetching] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._identity: tuple[float, str] | None = None
        #: the service did not answer when it was asked last
        self._trouble = False

    # --- on the way to an answer ---------------------------------------------------------

    async def for_turn(
        self, write: Writer, turn: TurnId, key: RecallKey, message: str
    ) -> Recalled:
        """Return the block for this turn, the same again when the turn is run again."""
        rules = self._rules()
        if not rules.inject:
            return Recalled()
        known = await self._store.read(lambda conn: recall.frozen(conn, turn))
        if known is not None:
            return Recalled(str(known["text"]), str(known.get("cold", "")))
        popped = await write(lambda tx: self._pop(tx, key, rules, count=True))
        waited: tuple[float, float] | None = None
        if popped.turn == 1 and _lacks(popped, message):
            ready = popped.base is not None
            waited = await self._wait(key, message, rules, base_wait=0.0 if ready else None)
            popped = await write(lambda tx: self._pop(tx, key, rules, count=False))
        text, layers = _assemble(popped, rules, waited)
        cold = await self._cold(key, popped, waited=waited is not None)
        frozen = {"text": text, "layers": [asdict(layer) for layer in layers], "cold": cold}
        await write(lambda tx: recall.freeze(tx, turn, frozen))
        return Recalled(text, cold)

    async def _cold(self, key: RecallKey, popped: Popped, *, waited: bool) -> str:
        """Name the outage where the service has this person's words and gave nothing of them."""
        limit = self._rules().context_cadence
        usable = reasoning.fresh(popped.base_turn, popped.turn, limit=limit)
        missing = popped.base is None or (self._trouble and not usable)
        if not missing or not (waited or self._trouble):
            return ""
        where = key.session if key.audience.limited else None
        known = await self._store.read(lambda conn: ledger.known(conn, key.peer, where))
        return f"{key.peer}/{popped.base_turn}" if known else ""

    def _pop(self, tx: Tx, key: RecallKey, rules: RecallRules, *, count: bool) -> Popped:
        now = self._clock.now()
        return recall.pop(tx, key, revision=rules.revision, count=count, now=now)

    async def _wait(
        self, key: RecallKey, message: str, rules: RecallRules, *, base_wait: float | None
    ) -> tuple[float, float]:
        """Wait for both layers at once, each for its own time; return the seconds waited."""
        fetching = self._fetch(key, message, rules)
        return await asyncio.gather(
            self._within(fetching.base, rules.base_wait if base_wait is None else base_wait),
            self._within(fetching.dialectic, rules.dialectic_wait),
        )

    async def _within(self, task: asyncio.Task[None], seconds: float) -> float:
        began = self._clock.monotonic()
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        await asyncio.wait({task, timer}, return_when=asyncio.FIRST_COMPLETED)
        timer.cancel()
        return self._clock.monotonic() - began

    # --- between turns -------------------------------------------------------------------

    def prewarm(self, key: RecallKey) -> None:
        """Begin to fetch for a session's first turn; returns at once."""
        rules = self._rules()
        if rules.inject:
            self._fetch(key, "", rules)

    async def prewarm_recent(self) -> None:
        """Fetch what is missing for the sessions that were used last."""
        rules = self._rules()
        if not rules.inject:
            return
        for key in await self._store.read(lambda conn: recall.recent(conn, limit=WARM_SESSIONS)):
            state = await self._state(key, rules)
            if state.base_turn is None:
                await self._guard(self._fetch_base(key, rules))

    async def refresh(self, key: RecallKey, message: str) -> None:
        """Fetch for the person's next turn what its cadence says is due."""
        rules = self._rules()
        if not rules.inject:
            return
        state = await self._state(key, rules)
        cadence = reasoning.Cadence(state.asked_turn, state.empties)
        work = []
        # the first turn's own was asked for before its words were stored
        early = state.base_turn is None or state.turns == 1
        if early or state.turns - (state.base_turn or 0) >= rules.context_cadence:
            work.append(self._fetch_base(key, rules))
        if not reasoning.trivial(message) and reasoning.due(rules.dialectic, cadence, state.turns):
            work.append(self._fetch_dialectic(key, message, rules))
        await asyncio.gather(*(self._guard(one) for one in work))

    def forget_identity(self) -> None:
        """Read the agent's own card anew at the next fetch: it may have changed."""
        self._identity = None

    async def settled(self) -> None:
        """Return when nothing is being fetched any more."""
        while self._background:
            await asyncio.gather(*self._background, return_exceptions=True)

    async def aclose(self) -> None:
        """Stop what is being fetched; it is fetched again after the next start."""
        tasks = list(self._background)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- fetching ------------------------------------------------------------------------

    def _fetch(self, key: RecallKey, message: str, rules: RecallRules) -> _Fetching:
        known = self._fetching.get(key)
        if known is not None:
            return known
        fetching = _Fetching(
            self._spawn(self._once_up(lambda: self._fetch_base(key, rules))),
            self._spawn(self._once_up(lambda: self._fetch_dialectic(key, message, rules))),
        )
        self._fetching[key] = fetching
        both = self._spawn(self._forget(key, fetching))
        both.set_name("recall")
        return fetching

    async def _forget(self, key: RecallKey, fetching: _Fetching) -> None:
        await asyncio.wait({fetching.base, fetching.dialectic})
        self._fetching.pop(key, None)

    def _spawn(self, work: Awaitable[None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(self._guard(work))
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def _once_up(self, fetch: Callable[[], Awaitable[None]]) -> None:
        """Fetch, a moment later where our own service is only just starting."""
        for _ in range(STARTING_TRIES):
            try:
                return await fetch()
            except MemoryUnavailableError as error:
                if error.code != "memory_starting":
                    raise
            await self._clock.sleep(0.1)
        return await fetch()

    async def _guard(self, work: Awaitable[None]) -> None:
        try:
            await work
        except MemoryServiceError as error:
            self._trouble = isinstance(error, MemoryUnavailableError | MemoryLimitedError)
            log.info("recall.without", action="recall", code=error.code)

    async def _state(self, key: RecallKey, rules: RecallRules) -> recall.State:
        return await self._store.read(
            lambda conn: recall.state(conn, key, revision=rules.revision)
        )

    async def _fetch_base(self, key: RecallKey, rules: RecallRules) -> None:
        known = await self._memory.context(
            ContextQuery(
                session=key.session,
                target=key.peer,
                perspective=rules.agent if rules.agent_observes else None,
                only_this_session=key.audience.limited,
            )
        )
        base: Base = {
            "summary": known.summary,
            "representation": cut(known.representation, REPRESENTATION_LIMIT),
            "card": "" if key.audience.limited else "\n".join(known.card),
            "self": await self._self_view(key, rules),
            "identity": await self._identity_card(rules),
        }
        self._trouble = False
        await self._store.write(
            lambda tx: recall.keep_base(
                tx, key, base, revision=rules.revision, now=self._clock.now()
            )
        )

    async def _self_view(self, key: RecallKey, rules: RecallRules) -> str:
        """Return what the agent learnt about itself, from nobody's sessions but this person's."""
        seed = rules.seed_session
        sessions = await self._store.read(lambda conn: self_sessions(conn, key, seed))
        query = ContextQuery(session=key.session, target=rules.agent, sessions=sessions)
        try:
            known = await self._memory.context(query)
        except MemoryUnsupportedError:
            return ""
        return cut(known.representation, REPRESENTATION_LIMIT)

    async def _identity_card(self, rules: RecallRules) -> str:
        now = self._clock.monotonic()
        if self._identity is None or now - self._identity[0] > IDENTITY_AGE:
            card = await self._memory.card(rules.agent, rules.agent)
            self._identity = (now, "\n".join(card))
        return self._identity[1]

    async def _fetch_dialectic(self, key: RecallKey, message: str, rules: RecallRules) -> None:
        state = await self._state(key, rules)
        dialectic = Dialectic(
            self._memory, rules.dialectic, rules.dialectic_chars, rules.dialectic_input_chars
        )
        inquiry = Inquiry(
            peer=key.peer,
            agent=rules.agent,
            session=key.session,
            message=message,
            warm=state.base_turn is not None,
            only_this_session=key.audience.limited,
            agent_observes=rules.agent_observes,
        )
        answer = await dialectic.ask(inquiry)
        before = reasoning.Cadence(state.asked_turn, state.empties)
        cadence = reasoning.after(before, state.turns, answer)
        await self._store.write(
            lambda tx: recall.keep_dialectic(
                tx,
                key,
                answer,
                asked=cadence.last,
                empties=cadence.empties,
                revision=rules.revision,
                now=self._clock.now(),
            )
        )


def _lacks(popped: Popped, message: str) -> bool:
    """Tell whether a first turn has a layer to wait for: a prewarm may have brought nothing."""
    return popped.base is None or not (popped.dialectic or reasoning.trivial(message))


def self_sessions(
    conn: Connection, key: RecallKey, seed: SessionId | None
) -> tuple[SessionId, ...]:
    """Return the only sessions that the agent's view of itself may come from.

    Whatever the agent said, it said to somebody. One person's own sessions are all there are
    while nobody else is here, so nothing is lost by never asking without a limit.
    """
    own = () if seed is None else (seed,)
    if key.audience.limited:
        return (*own, key.session)
    return tuple(dict.fromkeys((*own, key.session, *recall.sessions_of(conn, key.peer))))


def _assemble(
    popped: Popped, rules: RecallRules, waited: tuple[float, float] | None
) -> tuple[str, list[Layer]]:
    """Return the block and its layers; one that was waited for in vain has no characters."""
    turn, base, dialectic = popped.turn, popped.base, popped.dialectic
    if not reasoning.fresh(popped.base_turn, turn, limit=rules.context_cadence):
        base = None
    if not reasoning.fresh(popped.dialectic_turn, turn, limit=2 * rules.dialectic.cadence):
        dialectic = ""
    found = (
        ("base", sum(map(len, (base or {}).values())), popped.base_turn),
        ("dialectic", len(dialectic), popped.dialectic_turn),
    )
    layers = [
        Layer(name, chars, turn - fetched if chars else 0, seconds)
        for (name, chars, fetched), seconds in zip(found, waited or (0.0, 0.0), strict=True)
        if chars or waited is not None
    ]
    return compose(base, dialectic, tokens=rules.context_tokens), layers
