"""What people do with their own data, put together for the running gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gateway.app.desks import people_desk
from gateway.app.platforms import capabilities
from gateway.people.erasure import Erasure
from gateway.people.export import Export
from gateway.people.own import BRING, OwnData
from gateway.people.rehoming import Rehoming

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.memory.lane import Wake
    from gateway.memory.service import Service
    from gateway.pipeline.opening import Opening
    from gateway.pipeline.post import Mailbox, Post
    from gateway.pipeline.rules import Current
    from gateway.ports import Clock
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.store.engine import Store, Tx
    from gateway.store.inbox import InboxRow


class Parts(NamedTuple):
    """Parts of the gateway that it needs."""

    clock: Clock
    current: Current
    post: Post
    opening: Opening
    wake: Wake


def own_data(
    home: Home,
    loaded: Loaded,
    store: Store,
    *,
    service: Service | None,
    mailbox: Mailbox,
    parts: Parts,
) -> OwnData:
    """Return what answers ``/forget`` and ``/export``."""
    clock, current = parts.clock, parts.current
    facts = capabilities()
    return OwnData(
        clock=clock,
        current=current,
        opening=parts.opening,
        post=parts.post,
        mailbox=mailbox,
        erasure=Erasure(store, clock, home, current=current, mailbox=mailbox, wake=parts.wake),
        export=Export(store, clock, home, current),
        rehoming=Rehoming(
            people_desk(home, store, profile=loaded.settings.profile), store, clock, mailbox
        ),
        folder=home.files,
        largest=lambda platform: facts[platform].max_upload,
        memory=None if service is None else service.memory,
        own_service=loaded.settings.memory.provider != "honcho",
    )


def bringing(mailbox: Mailbox) -> Callable[[Tx, InboxRow], None]:
    """Return what puts ``/link bring`` on its way."""

    def bring(tx: Tx, row: InboxRow) -> None:
        mailbox.put(tx, BRING, str(row.id), dedupe=str(row.id), payload={"row": row.id})

    return bring
