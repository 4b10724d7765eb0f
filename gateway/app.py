"""The composition root: the only place that knows every part."""

from __future__ import annotations

import getpass
import importlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from adapters.console.manifest import MANIFEST as CONSOLE
from adapters.discord.manifest import MANIFEST as DISCORD
from adapters.slack.manifest import MANIFEST as SLACK
from adapters.telegram.manifest import MANIFEST as TELEGRAM
from gateway.mailbox.embedded import CONTROL, EmbeddedEngine
from gateway.mailbox.lanes import Done, Lane
from gateway.mailbox.remote import RemoteMailbox
from gateway.memory.lane import Wake
from gateway.memory.recall import Recall
from gateway.memory.service import Seeding, open_capture, open_service, open_tools
from gateway.model.errors import ConfigurationError
from gateway.model.ids import PlaceId
from gateway.ops import health
from gateway.ops.clock import SystemClock
from gateway.pipeline import retention
from gateway.pipeline.addresses import COMMAND, DELIVER, PREFETCH, SETTLE, TURN
from gateway.pipeline.attachments import Attachments
from gateway.pipeline.builtin import index, open_builtin
from gateway.pipeline.closing import Closing
from gateway.pipeline.commands import Commands
from gateway.pipeline.delivery import BACKOFF as DELIVERY_BACKOFF
from gateway.pipeline.delivery import Delivery
from gateway.pipeline.ending import Ending
from gateway.pipeline.fetching import Fetcher
from gateway.pipeline.intake import StoreIntake
from gateway.pipeline.opening import Opening
from gateway.pipeline.pairing import Codes, Pairing, load_secret
from gateway.pipeline.post import Post
from gateway.pipeline.prefetch import Prefetch
from gateway.pipeline.rules import Current, build
from gateway.pipeline.running import Running
from gateway.pipeline.turn import TRIES, Turns
from gateway.policy.retry import Backoff
from gateway.policy.session import ConsoleNaming, console_session
from gateway.settings.home import make_private_folder
from gateway.settings.read import read
from gateway.settings.watch import watch
from gateway.store import migrate
from gateway.store.lock import ProcessLock
from gateway.store.sqlite import SqliteStore
from gateway.supervisor import Supervisor
from gateway.text import catalog

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping, Sequence

    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.memory.service import Service
    from gateway.model.capabilities import Capabilities
    from gateway.model.ids import PlatformName
    from gateway.pipeline.rules import Rules
    from gateway.ports import Adapter, Agent, AgentTool, Clock, Manifest, Transcriber
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.store.engine import Store

log = structlog.get_logger(__name__)

#: every platform this product knows; an adapter's library is imported only when it is enabled
MANIFESTS: tuple[Manifest, ...] = (CONSOLE, TELEGRAM, DISCORD, SLACK)

TURN_BACKOFF = Backoff(first=2.0, factor=3.0, ceiling=30.0, jitter=0.2, attempts=TRIES)
QUICK_BACKOFF = Backoff(first=0.5, factor=2.0, ceiling=10.0, jitter=0.2, attempts=5)


def capabilities() -> dict[PlatformName, Capabilities]:
    """Return what every known platform can do."""
    return {manifest.name: manifest.capabilities for manifest in MANIFESTS}


def load(
    home: Home, environ: Mapping[str, str] | None = None, *, profile: str | None = None
) -> Loaded:
    """Read the configuration of ``home``; ``profile`` was asked for on the command line.

    Raises ``ConfigurationError``.
    """
    models = {manifest.name: manifest.settings for manifest in MANIFESTS}
    return read(
        home,
        profile=profile,
        environ=os.environ if environ is None else environ,
        platform_models={name: model for name, model in models.items() if name != CONSOLE.name},
    )


def rules_of(loaded: Loaded, *, fresh: str = "") -> Rules:
    """Return the pipeline's rules for a configuration, as of the present folder."""
    cwd = Path.cwd()
    outside = ConsoleNaming(
        manual=loaded.honcho.sessions,
        title="",
        strategy=loaded.honcho.session_strategy,
        cwd=cwd,
        git_root=_git_root(cwd),
        fresh=fresh,
        workspace=loaded.honcho.workspace,
        peer="",
        peer_prefix=loaded.honcho.session_peer_prefix,
    )
    return build(loaded.settings, loaded.honcho, outside=outside)


def _git_root(folder: Path) -> Path | None:
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)


def open_store(home: Home, loaded: Loaded) -> Store:
    """Open the home's database and bring it to this version's schema.

    Raises ``StoreError``, or ``ConfigurationError`` for a setting this version cannot serve.
    """
    if loaded.settings.store.url is not None:
        raise ConfigurationError(
            "store.url: several processes on PostgreSQL are not available in this version; "
            "leave store.url out to use the database in the home"
        )
    make_private_folder(home.gateway)
    store = SqliteStore(home.database)
    migrate.upgrade(store.engine)
    return store


def stand_in(loaded: Loaded) -> str:
    """Return the system user's name where the console's person has no configured one."""
    if loaded.honcho.peer_name is not None:
        return ""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def make_adapters(start: Start, *, menu: Sequence[tuple[str, str]]) -> list[Adapter]:
    """Build the adapters of every platform that is switched on.

    Raises ``ConfigurationError`` naming each platform that cannot start as it is set up.
    """
    if problems := platform_problems(start.loaded):
        raise ConfigurationError(*problems)
    adapters: list[Adapter] = []
    for manifest in MANIFESTS:
        extra = start.console if manifest is CONSOLE else {"commands": menu}
        wanted = manifest is CONSOLE or start.platforms
        if extra is None or not wanted or not enabled(manifest, start.loaded):
            continue
        settings = start.loaded.settings.platforms[manifest.name]
        module, _, function = manifest.factory.partition(":")
        create: Callable[..., list[Adapter]] = getattr(importlib.import_module(module), function)
        adapters += create(settings, start.loaded.secrets, clock=start.clock, **extra)
    return adapters


def enabled(manifest: Manifest, loaded: Loaded) -> bool:
    """Tell whether a platform is switched on: ``auto`` means that its secret is set."""
    switch = getattr(loaded.settings.platforms.get(manifest.name), "enabled", False)
    if switch == "auto":
        return bool(manifest.secrets) and manifest.secrets[0] in loaded.secrets
    return bool(switch)


@dataclass(frozen=True, slots=True)
class Start:
    """What is to be started: one home's gateway, with or without platforms and console."""

    home: Home
    loaded: Loaded
    #: called once with the tools that the model may use
    make_agent: Callable[[Sequence[AgentTool]], Agent]
    #: what the console's factory gets beside settings and clock; None: no console
    console: Mapping[str, Any] | None = None
    #: False: nothing but the console (``chat``)
    platforms: bool = True
    clock: Clock = field(default_factory=SystemClock)
    #: a new id, for ``sessionStrategy: per-session``
    fresh: str = ""
    describe_model: Callable[[], str] = lambda: ""
    #: the command line's commands, for the agent to name to whoever has it
    terminal: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Gateway:
    """One gateway process, put together and not yet running."""

    store: Store
    agent: Agent
    engine: EmbeddedEngine
    current: Current
    adapters: Sequence[Adapter]
    #: None: memory is switched off
    service: Service | None
    recall: Recall | None
    #: None: recordings are not written down
    transcriber: Transcriber | None
    supervisor: Supervisor
    lock: ProcessLock = field(repr=False)

    async def run(self, stop: asyncio.Event) -> None:
        """Run until ``stop`` is set or nothing can come any more, then release everything."""
        try:
            await self.supervisor.run(stop)
        finally:
            await self.agent.aclose()
            if self.transcriber is not None:
                await self.transcriber.aclose()
            if self.recall is not None:
                await self.recall.aclose()
            if self.service is not None:
                await self.service.memory.aclose()
            await self.store.close()
            self.lock.release()


def assemble(start: Start) -> Gateway:
    """Put a gateway together. Takes the home's lock; nothing is received before ``run``.

    Raises ``GatewayRunningError``, ``ConfigurationError`` or ``StoreError``.
    """
    make_private_folder(start.home.gateway)
    lock = ProcessLock(start.home.lock)
    lock.acquire()
    try:
        return _wire(start, open_store(start.home, start.loaded), lock)
    except BaseException:
        lock.release()
        raise


def _wire(start: Start, store: Store, lock: ProcessLock) -> Gateway:
    clock, known = start.clock, capabilities()
    engine = EmbeddedEngine(store, clock)
    current = Current(rules_of(start.loaded, fresh=start.fresh), stand_in=stand_in(start.loaded))
    post = Post(engine, clock, known)
    pairing = Pairing(clock, Codes(load_secret(start.home.secret)), current, post)
    opening, running = Opening(clock, current, known), Running()
    service = open_service(start.loaded.settings, start.loaded.honcho, store, clock)
    recall = None if service is None else _recall(service, store, clock, current)
    wake, prefetch = Wake(engine), Prefetch(engine, recall)
    builtin = open_builtin(start.home, store, clock, current, post=post, opening=opening)
    recalling = open_tools(
        service,
        store,
        rules=lambda: current.rules.tools,
        seed=lambda: current.rules.recall.seed_session,
    )
    agent = start.make_agent([*recalling, *builtin.tools])
    commands = Commands(
        clock,
        current,
        post=post,
        opening=opening,
        running=running,
        pairing=pairing,
        prefetch=prefetch,
        notebook=builtin.notebook,
        describe_model=start.describe_model,
    )
    ending = Ending(clock, current, engine, wake)
    transcriber, files = _transcriber(start.loaded), start.home.files
    attachments = Attachments(
        clock,
        files,
        post,
        fetcher=Fetcher(clock, files, transcriber),
        transcribes=transcriber is not None,
        limit=lambda: current.rules.file_limit,
    )
    adapters = make_adapters(start, menu=_menu(commands, start.loaded))
    by_account = {(adapter.platform, adapter.account): adapter for adapter in adapters}
    turns = Turns(
        clock,
        current,
        agent=agent,
        adapters=by_account,
        opening=opening,
        attachments=attachments,
        closing=Closing(clock, post, prefetch=prefetch, wake=wake),
        commands=commands,
        running=running,
        prefetch=prefetch,
        introduce=builtin.introduction(chat=commands.menu, terminal=start.terminal),
    )
    delivery = Delivery(clock, by_account, pairing=pairing, ending=ending)
    capturing = open_capture(
        service,
        store,
        clock,
        wake=wake,
        rules=lambda: current.rules.capture,
        seeding=Seeding(
            start.home,
            lambda: current.rules.seed,
            (lambda: None) if recall is None else recall.forget_identity,
        ),
    )
    lanes = (
        Lane(TURN, turns.handle, TURN_BACKOFF, concurrency=32, on_dead=turns.bury),
        Lane(COMMAND, commands.handle, QUICK_BACKOFF, finishes=True, on_dead=commands.bury),
        Lane(DELIVER, delivery.handle, DELIVERY_BACKOFF, finishes=True, on_dead=delivery.bury),
        Lane(PREFETCH, prefetch.handle, QUICK_BACKOFF, concurrency=8),
        Lane(SETTLE, ending.handle, QUICK_BACKOFF),
        Lane(CONTROL, _noted, QUICK_BACKOFF),
        *capturing.lanes,
    )
    supervisor = Supervisor(
        engine,
        lanes,
        adapters,
        intake=StoreIntake(store, engine, clock, current, post=post, pairing=pairing),
        clock=clock,
        background={
            "retention": lambda: retention.run(
                store, clock, start.loaded.settings.retention, files
            ),
            "health": lambda: health.publish(store, clock, adapters),
            "reload": lambda: _reload(start, current),
            "search": lambda: index(store),
            **capturing.background,
            **({} if recall is None else {"prewarm": recall.prewarm_recent}),
        },
        before_stop=capturing.drain,
    )
    return Gateway(
        store,
        agent,
        engine,
        current,
        adapters,
        service=service,
        recall=recall,
        transcriber=transcriber,
        supervisor=supervisor,
        lock=lock,
    )


def _recall(service: Service, store: Store, clock: Clock, current: Current) -> Recall:
    return Recall(store, clock, service.memory, lambda: current.rules.recall)


def _transcriber(loaded: Loaded) -> Transcriber | None:
    settings = loaded.settings.voice.transcribe
    if settings is None:
        return None
    from gateway.agent.transcribe import SpeechEndpoint  # not every start should load it

    secrets = loaded.secrets
    key = secrets.get("TRANSCRIBE_API_KEY") or secrets.get("OPENAI_API_KEY")
    return SpeechEndpoint(settings, key or "")


async def _reload(start: Start, current: Current) -> None:
    """Follow edits of the configuration; a bad one changes nothing and is said."""

    async def read_again() -> None:
        try:
            loaded = load(start.home)
        except ConfigurationError as error:
            log.error("settings.kept", action="reload", problems=list(error.problems))
            return
        current.stand_in = stand_in(loaded)
        current.rules = rules_of(loaded, fresh=start.fresh)
        log.info("settings.reloaded", action="reload")

    paths = (start.home.config, start.home.env, *start.home.honcho_candidates)
    await watch(paths, read_again, known=start.loaded.digests)


async def _noted(_lease: Lease) -> Outcome:
    """A note of another process has done its work by waking the engine."""
    return Done()


def _menu(commands: Commands, loaded: Loaded) -> list[tuple[str, str]]:
    language = loaded.settings.language
    spoken = catalog.DEFAULT_LANGUAGE if language == "auto" else language
    return [(name, catalog.text(f"cmd.{name}", spoken)) for name in commands.menu]


def pairing_desk(home: Home, loaded: Loaded) -> Pairing:
    """Return the pairing of a home for a command beside the running gateway."""
    clock = SystemClock()
    current = Current(rules_of(loaded))
    post = Post(RemoteMailbox(clock), clock, capabilities())
    return Pairing(clock, Codes(load_secret(home.secret)), current, post)


def platform_problems(loaded: Loaded) -> list[str]:
    """Return what keeps an enabled platform from starting, [] when all can."""
    return [
        problem
        for manifest in MANIFESTS
        if enabled(manifest, loaded)
        for problem in manifest.check(loaded.settings.platforms[manifest.name], loaded.secrets)
    ]


def console_place(rules: Rules) -> PlaceId:
    """Return the console's conversation: one for each session that the strategy names."""
    return PlaceId(console_session(rules.outside))
