"""Putting one gateway process together. Each part is made when another first asks for it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from gateway.app.configuration import open_store, rules_of, stand_in
from gateway.app.desks import following
from gateway.app.lanes import QUICK_BACKOFF, lanes
from gateway.app.lending import lend, transcriber
from gateway.app.own import Parts, bringing, own_data
from gateway.app.platforms import capabilities, make_adapters
from gateway.app.reload import Followed
from gateway.mailbox.embedded import EmbeddedEngine
from gateway.memory.lane import Wake
from gateway.memory.recall import Recall
from gateway.memory.service import Seeding, open_capture, open_service, open_tools
from gateway.ops import health, watchman
from gateway.pipeline import retention
from gateway.pipeline.attachments import Attachments
from gateway.pipeline.builtin import index, open_builtin
from gateway.pipeline.choices import Choices
from gateway.pipeline.closing import Closing
from gateway.pipeline.commands import Commands, warming
from gateway.pipeline.delivery import Delivery
from gateway.pipeline.ending import Ending
from gateway.pipeline.fetching import Fetcher
from gateway.pipeline.intake import StoreIntake
from gateway.pipeline.linking import Linking
from gateway.pipeline.notebook import APPROVAL
from gateway.pipeline.opening import Opening
from gateway.pipeline.pairing import Codes, Pairing, load_secret
from gateway.pipeline.post import Post
from gateway.pipeline.prefetch import Prefetch
from gateway.pipeline.rules import Current
from gateway.pipeline.running import Running
from gateway.pipeline.turn import Turns
from gateway.settings.home import make_private_folder
from gateway.store import outbox
from gateway.store.lock import ProcessLock
from gateway.supervisor import Supervisor

if TYPE_CHECKING:
    import asyncio

    from gateway.app.start import Start
    from gateway.mailbox.lanes import Lane
    from gateway.memory.embedded.mind import Faculties
    from gateway.memory.service import Capturing, Service
    from gateway.people.follow import Following
    from gateway.people.own import OwnData
    from gateway.pipeline.builtin import BuiltIn
    from gateway.ports import Adapter, Agent, Transcriber
    from gateway.store.engine import Store
    from gateway.supervisor import Work
    from gateway.web.server import PageServer


def assemble(start: Start) -> Gateway:
    """Put a gateway together. Takes the home's lock; nothing is received before ``run``.

    Raises ``GatewayRunningError``, ``ConfigurationError`` or ``StoreError``.
    """
    make_private_folder(start.home.gateway)
    lock = ProcessLock(start.home.lock)
    lock.acquire()
    try:
        gateway = Gateway(start, open_store(start.home, start.loaded), lock)
        gateway.prepare()
    except BaseException:
        lock.release()
        raise
    return gateway


class Gateway:
    """One gateway process. ``prepare`` makes all parts, ``run`` sets them going."""

    def __init__(self, start: Start, store: Store, lock: ProcessLock) -> None:
        self._start = start
        self._loaded = start.loaded
        self._clock = start.clock
        self._lock = lock
        self.store = store

    def prepare(self) -> None:
        """Make every part. Raises ``ConfigurationError`` for one that cannot be."""
        self._supervisor  # noqa: B018 - the last part asks for all the others

    async def run(self, stop: asyncio.Event) -> None:
        """Run until ``stop`` is set or nothing can come any more, then release everything."""
        try:
            await self._supervisor.run(stop)
        finally:
            await self.agent.aclose()
            if self._transcriber is not None:
                await self._transcriber.aclose()
            if self.recall is not None:
                await self.recall.aclose()
            if self._following is not None:
                await self._following.memory.aclose()
            if self.service is not None:
                await self.service.aclose()
            await self.store.close()
            self._lock.release()

    # --- the core ------------------------------------------------------------------------

    @cached_property
    def engine(self) -> EmbeddedEngine:
        return EmbeddedEngine(self.store, self._clock)

    @cached_property
    def current(self) -> Current:
        rules = rules_of(self._loaded, fresh=self._start.fresh)
        return Current(rules, stand_in=stand_in(self._loaded))

    @cached_property
    def _post(self) -> Post:
        return Post(self.engine, self._clock, capabilities())

    @cached_property
    def _pairing(self) -> Pairing:
        codes = Codes(load_secret(self._start.home.secret))
        return Pairing(self._clock, codes, self.current, self._post)

    @cached_property
    def _opening(self) -> Opening:
        return Opening(self._clock, self.current, capabilities())

    @cached_property
    def _linking(self) -> Linking:
        return Linking(
            self._clock,
            Codes(load_secret(self._start.home.secret)),
            self.current,
            post=self._post,
            opening=self._opening,
            warm_up=warming(self.current, self._opening, self._prefetch),
            bring=bringing(self.engine),
        )

    @cached_property
    def _running(self) -> Running:
        return Running()

    @cached_property
    def _intake(self) -> StoreIntake:
        return StoreIntake(
            self.store,
            self.engine,
            self._clock,
            self.current,
            post=self._post,
            pairing=self._pairing,
        )

    # --- memory --------------------------------------------------------------------------

    @cached_property
    def service(self) -> Service | None:
        """The memory service, None where memory is switched off."""
        loaded = self._loaded
        return open_service(
            loaded.settings, loaded.honcho, self.store, self._clock, lend=self._lend
        )

    def _lend(self) -> Faculties:
        mine = self._start
        return lend(self._loaded, self.engine, mine.make_completer, mine.make_embedder)

    @cached_property
    def recall(self) -> Recall | None:
        if self.service is None:
            return None
        memory = self.service.memory
        return Recall(self.store, self._clock, memory, lambda: self.current.rules.recall)

    @cached_property
    def _wake(self) -> Wake:
        return Wake(self.engine)

    @cached_property
    def _prefetch(self) -> Prefetch:
        return Prefetch(self.engine, self.recall, self._wake)

    @cached_property
    def _capturing(self) -> Capturing:
        recall = self.recall
        return open_capture(
            self.service,
            self.store,
            self._clock,
            wake=self._wake,
            rules=lambda: self.current.rules.capture,
            seeding=Seeding(
                self._start.home,
                lambda: self.current.rules.seed,
                (lambda: None) if recall is None else recall.forget_identity,
            ),
        )

    @cached_property
    def _builtin(self) -> BuiltIn:
        return open_builtin(
            self._start.home,
            self.store,
            self._clock,
            self.current,
            post=self._post,
            opening=self._opening,
        )

    # --- who answers ---------------------------------------------------------------------

    @cached_property
    def agent(self) -> Agent:
        tools = open_tools(
            self.service,
            self.store,
            self._clock,
            rules=lambda: self.current.rules.tools,
            seed=lambda: self.current.rules.recall.seed_session,
        )
        return self._start.make_agent([*tools, *self._builtin.tools])

    @cached_property
    def _transcriber(self) -> Transcriber | None:
        return transcriber(self._loaded)

    @cached_property
    def _commands(self) -> Commands:
        return Commands(
            self._clock,
            self.current,
            post=self._post,
            opening=self._opening,
            running=self._running,
            pairing=self._pairing,
            linking=self._linking,
            prefetch=self._prefetch,
            notebook=self._builtin.notebook,
            choices=self._choices,
            describe_model=self._start.describe_model,
            further=self._own.commands,
        )

    @cached_property
    def _own(self) -> OwnData:
        return own_data(
            self._start.home,
            self._loaded,
            self.store,
            service=self.service,
            mailbox=self.engine,
            parts=Parts(self._clock, self.current, self._post, self._opening, self._wake),
        )

    @cached_property
    def _choices(self) -> Choices:
        """Who hears of a pressed button, by the kind of its question."""
        return Choices(self._clock, self._post, {APPROVAL: self._builtin.notebook.pressed})

    @cached_property
    def adapters(self) -> list[Adapter]:
        return make_adapters(
            self._loaded,
            self._clock,
            menu=self._commands.menu,
            console=self._start.console,
            others=self._start.platforms,
        )

    @cached_property
    def page(self) -> PageServer | None:
        """The operator's page; None where it is switched off, and for ``chat``."""
        if not self._loaded.settings.web.enabled or not self._start.platforms:
            return None
        from gateway.app.page import open_page  # not every start should load it

        return open_page(
            self._start.home,
            self._loaded,
            self.store,
            self._clock,
            current=self.current,
            post=self._post,
            pairing=self._pairing,
            ending=self._ending,
            memory=None if self.service is None else self.service.memory,
            adapters=self.adapters,
        )

    # --- lanes ---------------------------------------------------------------------------

    @cached_property
    def _attachments(self) -> Attachments:
        files = self._start.home.files
        return Attachments(
            self._clock,
            files,
            self._post,
            fetcher=Fetcher(self._clock, files, self._transcriber),
            transcribes=self._transcriber is not None,
            limit=lambda: self.current.rules.file_limit,
        )

    @cached_property
    def _turns(self) -> Turns:
        commands, files = self._commands, self._start.home.files
        closing = Closing(self._clock, self._post, files, prefetch=self._prefetch, wake=self._wake)
        return Turns(
            self._clock,
            self.current,
            agent=self.agent,
            adapters={(each.platform, each.account): each for each in self.adapters},
            opening=self._opening,
            attachments=self._attachments,
            closing=closing,
            commands=commands,
            running=self._running,
            prefetch=self._prefetch,
            introduce=self._builtin.introduction(
                chat=commands.menu, terminal=self._start.terminal
            ),
        )

    @cached_property
    def _ending(self) -> Ending:
        return Ending(self._clock, self.current, self.engine, self._wake)

    @cached_property
    def _delivery(self) -> Delivery:
        return Delivery(
            self._clock,
            {(each.platform, each.account): each for each in self.adapters},
            post=self._post,
            folder=self._start.home.files,
            sealed={outbox.PAIRING: self._pairing.letter, outbox.LINK: self._linking.letter},
            ending=self._ending,
        )

    @cached_property
    def _following(self) -> Following | None:
        """What lets memory follow identity, None where memory is switched off."""
        service, start = self.service, self._start
        if service is None:
            return None
        return following(start.home, self.store, service.memory, self._clock, self.current)

    def _lanes(self) -> list[Lane]:
        more = () if self._following is None else (self._following.lane,)
        return lanes(
            self._turns,
            self._commands,
            self._delivery,
            prefetch=self._prefetch,
            ending=self._ending,
            more=(*self._capturing.lanes, *more, *self._own.lanes(QUICK_BACKOFF)),
        )

    def _background(self) -> dict[str, Work]:
        keep = self._loaded.settings.retention
        files = self._start.home.files
        work: dict[str, Work] = {
            "retention": lambda: retention.run(self.store, self._clock, keep, files),
            "health": lambda: health.publish(self.store, self._clock, self.adapters),
            "reload": lambda: self._followed.run(self._loaded),
            "search": lambda: index(self.store),
            "audit": lambda: watchman.run(self.store, self._clock),
            **self._capturing.background,
        }
        if self.recall is not None:
            work["prewarm"] = self.recall.prewarm_recent
        if self.page is not None:
            work["page"] = self.page.run
        return work

    @cached_property
    def _followed(self) -> Followed:
        its = self._start
        return Followed(its.home, self.current, self.store, self._clock, its.fresh, its.redactor)

    @cached_property
    def _supervisor(self) -> Supervisor:
        return Supervisor(
            self.engine,
            self._lanes(),
            self.adapters,
            intake=self._intake,
            clock=self._clock,
            background=self._background(),
            before_stop=self._capturing.drain,
        )
