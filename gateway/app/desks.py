"""Parts of the pipeline put together for a command that works beside the running gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.app.configuration import load, rules_of, stand_in
from gateway.app.platforms import capabilities
from gateway.mailbox.remote import RemoteMailbox
from gateway.memory.lane import Wake
from gateway.ops.clock import SystemClock
from gateway.people import People, Rehoming
from gateway.pipeline.deliveries import DeliveryDesk
from gateway.pipeline.ending import Ending
from gateway.pipeline.linking import Linking
from gateway.pipeline.opening import Opening
from gateway.pipeline.pairing import Codes, Pairing, load_secret
from gateway.pipeline.post import Post
from gateway.pipeline.rules import Current

if TYPE_CHECKING:
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
