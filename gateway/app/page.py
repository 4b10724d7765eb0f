"""The operator's page, put together from parts of the running gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.app.configuration import load, start_problems
from gateway.app.desks import people_desk, rehoming_desk
from gateway.app.platforms import capabilities
from gateway.mailbox.remote import RemoteMailbox
from gateway.memory.files import MemoryFiles
from gateway.model.errors import ConfigurationError
from gateway.pipeline.builtin import file_rules
from gateway.pipeline.deliveries import DeliveryDesk
from gateway.pipeline.linking import Linking
from gateway.pipeline.opening import Opening
from gateway.pipeline.pairing import Codes, load_secret
from gateway.web.doors import Doors
from gateway.web.parts import Checked, Parts
from gateway.web.server import PageServer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.memory.honcho import HonchoMemory
    from gateway.pipeline.ending import Ending
    from gateway.pipeline.pairing import Pairing
    from gateway.pipeline.post import Post
    from gateway.pipeline.rules import Current
    from gateway.ports import Adapter, Clock
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.store.engine import Store


def open_page(
    home: Home,
    loaded: Loaded,
    store: Store,
    clock: Clock,
    *,
    current: Current,
    post: Post,
    pairing: Pairing,
    ending: Ending,
    memory: HonchoMemory | None,
    adapters: Sequence[Adapter],
) -> PageServer:
    """Return the page; nothing is listened to yet."""
    settings = loaded.settings
    who_is_who = people_desk(home, store, profile=settings.profile)
    parts = Parts(
        store=store,
        clock=clock,
        home=home,
        doors=doors(home, store, clock),
        current=current,
        settings=settings,
        pairing=pairing,
        deliveries=DeliveryDesk(clock, RemoteMailbox(clock), post, ending),
        post=post,
        files=MemoryFiles(home, lambda: file_rules(current)),
        memory=memory,
        adapters=adapters,
        check=lambda: checked(home, settings.profile),
        people=who_is_who,
        rehoming=rehoming_desk(who_is_who, store),
        linking=Linking(
            clock,
            Codes(load_secret(home.secret)),
            current,
            post=post,
            opening=Opening(clock, current, capabilities()),
        ),
        reveals=lambda: _reveals(home, loaded),
        started=clock.now(),
    )
    return PageServer(parts)


def doors(home: Home, store: Store, clock: Clock) -> Doors:
    """Return who opens the page, and to whom."""
    return Doors(store, clock, load_secret(home.secret))


def checked(home: Home, profile: str) -> Checked:
    """Read the configuration as the next start would."""
    try:
        found = load(home, profile=profile)
    except ConfigurationError as error:
        return Checked(tuple(error.problems), (), (), ())
    files = tuple(str(path) for path in found.files)
    return Checked(tuple(start_problems(found)), found.warnings, found.unused, files)


def _reveals(home: Home, started: Loaded) -> bool:
    """Tell what ``web.reveal`` says now, or said at the start while the files are at fault."""
    try:
        found = load(home, profile=started.settings.profile)
    except ConfigurationError:
        found = started
    return found.settings.web.reveal == "ask"
