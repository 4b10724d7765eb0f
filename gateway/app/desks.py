"""Parts of the pipeline put together for a command that works beside the running gateway."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from gateway.app.configuration import load, rules_of, stand_in
from gateway.app.platforms import capabilities
from gateway.mailbox.remote import RemoteMailbox
from gateway.memory.files import MemoryFiles
from gateway.memory.lane import Wake
from gateway.memory.service import open_service
from gateway.model.errors import MemoryUnavailableError
from gateway.ops.clock import SystemClock
from gateway.people import People, Rehoming
from gateway.people.erasure import Erasure
from gateway.people.export import Export
from gateway.people.follow import open_following
from gateway.pipeline.builtin import file_rules
from gateway.pipeline.deliveries import DeliveryDesk
from gateway.pipeline.ending import Ending
from gateway.pipeline.linking import Linking
from gateway.pipeline.opening import Opening
from gateway.pipeline.pairing import Codes, Pairing, load_secret
from gateway.pipeline.post import Post
from gateway.pipeline.rules import Current

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.memory.honcho import HonchoMemory
    from gateway.people.follow import Following
    from gateway.ports import Clock, Memory
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.store.engine import Store


def people_desk(home: Home, store: Store | None, *, profile: str | None = None) -> People:
    """Return who is who in a home, read anew each time; ``store`` None: there is none yet."""
    return People(
        store,
        SystemClock(),
        lambda: load(home, profile=profile),
        stand_in=stand_in,
        platforms=frozenset(capabilities()),
    )


def following(
    home: Home, store: Store, memory: HonchoMemory, clock: Clock, current: Current
) -> Following:
    """Return the lane by which the running gateway lets memory follow identity."""
    return open_following(
        memory,
        clock,
        rules=lambda: current.rules.capture,
        ground=people_desk(home, store).ground,
        revision=lambda: current.rules.recall.revision,
        home=home,
        files=MemoryFiles(home, lambda: file_rules(current)),
    )


def rehoming_desk(people: People, store: Store) -> Rehoming:
    """Return what lets memory follow identity; the running gateway does the work."""
    clock = SystemClock()
    return Rehoming(people, store, clock, RemoteMailbox(clock))


def pairing_desk(home: Home, loaded: Loaded) -> Pairing:
    """Return who lets people in and turns them away."""
    clock = SystemClock()
    post = Post(RemoteMailbox(clock), clock, capabilities())
    return Pairing(clock, Codes(load_secret(home.secret)), Current(rules_of(loaded)), post)


def delivery_desk(loaded: Loaded) -> DeliveryDesk:
    """Return what operators do about parts that are not delivered."""
    clock = SystemClock()
    mailbox, current = RemoteMailbox(clock), Current(rules_of(loaded))
    post = Post(mailbox, clock, capabilities())
    return DeliveryDesk(clock, mailbox, post, Ending(clock, current, mailbox, Wake(mailbox)))


def linking_desk(home: Home, loaded: Loaded) -> Linking:
    """Return who joins accounts and takes them apart."""
    clock, current = SystemClock(), Current(rules_of(loaded), stand_in=stand_in(loaded))
    post = Post(RemoteMailbox(clock), clock, capabilities())
    opening = Opening(clock, current, capabilities())
    return Linking(clock, Codes(load_secret(home.secret)), current, post=post, opening=opening)


def erasure_desk(home: Home, loaded: Loaded, store: Store) -> Erasure:
    """Return what erases people, beside the running gateway or without one."""
    clock, current = SystemClock(), Current(rules_of(loaded), stand_in=stand_in(loaded))
    mailbox = RemoteMailbox(clock)
    return Erasure(store, clock, home, current=current, mailbox=mailbox, wake=Wake(mailbox))


def export_desk(home: Home, loaded: Loaded, store: Store) -> Export:
    """Return what reads a person out of a home."""
    current = Current(rules_of(loaded), stand_in=stand_in(loaded))
    return Export(store, SystemClock(), home, current)


@asynccontextmanager
async def memory_of(loaded: Loaded, store: Store) -> AsyncIterator[Memory | None]:
    """Reach the memory service; the embedded one is served from the home's database meanwhile.

    None where memory is switched off. Raises ``ConfigurationError``.
    """
    service = open_service(loaded.settings, loaded.honcho, store, SystemClock())
    if service is None:
        yield None
        return
    run = service.background.get("memory service")
    serving = None if run is None else asyncio.create_task(run())
    try:
        if serving is not None:
            await _reachable(service.memory)
        yield service.memory
    finally:
        await service.aclose()
        if serving is not None:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


async def _reachable(memory: Memory) -> None:
    """Wait until the embedded service has an address."""
    for _ in range(500):
        try:
            await memory.pending()
        except MemoryUnavailableError:
            await asyncio.sleep(0.01)
        else:
            return
