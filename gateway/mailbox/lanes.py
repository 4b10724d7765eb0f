"""What a lane is, what its handler gets, and what it may answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from gateway.mailbox import items

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gateway.policy.retry import Backoff
    from gateway.store.engine import Store, Tx

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Done:
    """The work is finished; ``effects`` commit together with that."""

    effects: Callable[[Tx], None] | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """Run the same item again after ``delay`` seconds. Not ``counted``: nothing went wrong."""

    delay: float
    error: str = ""
    counted: bool = False
    effects: Callable[[Tx], None] | None = None


@dataclass(frozen=True, slots=True)
class Dead:
    """Give up; the lane's ``on_dead`` says what that means."""

    error: str


Outcome = Done | Again | Dead


@dataclass(frozen=True, slots=True)
class Lease:
    """A held item. Every write of its handler goes through ``write``, so that a worker that
    was taken over (frozen, slow, presumed dead) can change nothing any more.
    """

    item: items.Item
    store: Store

    async def write(self, fn: Callable[[Tx], T], *, durable: bool = False) -> T:
        """Run ``fn`` in a transaction that first proves that the item is still held.

        Raises ``StaleLeaseError`` when it is not.
        """

        def fenced(tx: Tx) -> T:
            items.fence(tx, self.item)
            return fn(tx)

        return await self.store.write(fenced, durable=durable)


@dataclass(frozen=True, slots=True)
class Lane:
    """One kind of work. ``backoff.attempts`` bounds the tries that fail by themselves."""

    name: str
    handle: Callable[[Lease], Awaitable[Outcome]]
    backoff: Backoff
    #: most keys that are worked on at once
    concurrency: int = 64
    #: short work that somebody waits for: still begun while the process stops, in its grace
    finishes: bool = False
    #: never given up for crashes, nor kept from running beside others: hours of work that only
    #: ends when it is done
    patient: bool = False
    #: runs in the transaction that gives an item up: tell somebody
    on_dead: Callable[[Tx, items.Item, str], None] | None = None
