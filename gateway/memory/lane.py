"""The lane that carries a session's ledger to the memory service, and how it is woken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from gateway.model.ids import sortable_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.mailbox.items import Item
    from gateway.model.ids import SessionId
    from gateway.store.engine import Tx

#: name of the lane; its keys are the names of memory sessions
MEMORY = "memory"
_EVERYTHING = "everything"
_OPEN = "open"


class Puts(Protocol):
    """Where durable work is put: the running engine, or another process's note to it."""

    def put(
        self, tx: Tx, lane: str, key: str, *, dedupe: str, payload: Mapping[str, Any]
    ) -> int | None:
        """Add an item in the caller's transaction; None when it was put before."""
        ...


class Wake:
    """Asks the writer to look at a session. Asking too often costs nothing but a look."""

    def __init__(self, mailbox: Puts) -> None:
        self._mailbox = mailbox

    def __call__(
        self, tx: Tx, session: SessionId, *, once: str = "", everything: bool = False
    ) -> None:
        """Ask once the caller's transaction is committed; for the same ``once`` only once.

        ``once`` begins with a turn's id, which no two sessions share: the shortest that is unique.
        ``everything``: whatever waits is to go, whether ``writeFrequency`` says so or not.
        """
        dedupe = once or sortable_id("w")
        payload = {_EVERYTHING: True} if everything else {}
        self._mailbox.put(tx, MEMORY, session, dedupe=dedupe, payload=payload)

    def open(self, tx: Tx, session: SessionId) -> None:
        """Ask once that the session be opened at the service before anything is written to it."""
        payload = {_OPEN: True}
        self._mailbox.put(tx, MEMORY, session, dedupe=f"{session}/open", payload=payload)


def wants_opening(item: Item) -> bool:
    """Tell whether an item of the lane asks for its session to be opened."""
    return bool(item.payload.get(_OPEN))


def wants_everything(item: Item) -> bool:
    """Tell whether an item of the lane asks for all that waits."""
    return bool(item.payload.get(_EVERYTHING))
