"""What an operator does about parts that are not delivered; every act is audited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.mailbox import items
from gateway.model.errors import GatewayError
from gateway.model.outbound import PartState
from gateway.pipeline.addresses import DELIVER
from gateway.store import audit, outbox, places

if TYPE_CHECKING:
    from gateway.mailbox.remote import RemoteMailbox
    from gateway.pipeline.ending import Ending
    from gateway.pipeline.post import Post
    from gateway.ports import Clock
    from gateway.store.engine import Tx
    from gateway.store.outbox import StoredPart

GIVEN_UP = "given_up"


class DeliveryError(GatewayError):
    """The part is not in a state in which that can be done."""

    code = "delivery"


class MayArriveTwiceError(DeliveryError):
    """The part may have arrived: sending it again needs a clear yes."""

    code = "may_arrive_twice"


class DeliveryDesk:
    """Retries and gives up; every method runs in the caller's transaction."""

    def __init__(self, clock: Clock, mailbox: RemoteMailbox, post: Post, ending: Ending) -> None:
        self._clock = clock
        self._mailbox = mailbox
        self._post = post
        self._ending = ending

    def retry(self, tx: Tx, part: int, *, by: str, twice: bool = False) -> None:
        """Send a failed part again, also to a place that could not be written to.

        An unknown one only with ``twice``. Raises ``DeliveryError``, ``MayArriveTwiceError``.
        """
        stored = self._find(tx, part)
        if stored.state is PartState.UNKNOWN and not twice:
            raise MayArriveTwiceError(
                f"part {part} may have arrived: sent again, it may be read twice"
            )
        if stored.state not in (PartState.FAILED, PartState.UNKNOWN):
            raise DeliveryError(
                f"part {part} is {_told(stored)}: only failed and unknown ones can be sent again"
            )
        now, where = self._clock.now(), stored.part.address
        outbox.mark_waiting(tx, part, error="", now=now)
        places.mark_reachable(tx, places.PlaceKey(where.platform, where.account, where.place))
        self._post.deliver(tx, where, part, again=True)
        audit.record(
            tx,
            "delivery.retried",
            actor=by,
            subject=f"part:{part}",
            now=now,
            state=stored.state.value,
        )

    def give_up(self, tx: Tx, part: int, *, by: str) -> None:
        """Stop trying to send a part that waits. Raises ``DeliveryError``."""
        stored = self._find(tx, part)
        if stored.state is not PartState.WAITING:
            raise DeliveryError(
                f"part {part} is {_told(stored)}: only one that waits can be given up"
            )
        now = self._clock.now()
        self._ending.conclude(tx, stored, PartState.FAILED, error=GIVEN_UP)
        # Its item ends at once, so that what waits behind it need not wait for its time.
        items.hurry(tx, DELIVER, str(part), now=now)
        self._mailbox.note(tx)
        audit.record(tx, "delivery.given_up", actor=by, subject=f"part:{part}", now=now)

    def _find(self, tx: Tx, part: int) -> StoredPart:
        stored = outbox.find(tx.conn, part)
        if stored is None:
            raise DeliveryError(f"there is no part {part}; see: hermes-gateway deliveries")
        return stored


def _told(stored: StoredPart) -> str:
    return "being sent" if stored.state is PartState.SENDING else stored.state.value
