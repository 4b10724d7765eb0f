"""What a memory service is asked to forget of a person: sessions, conclusions, cards.

Each step may be done again, so an erasure that a service's outage interrupted begins anew.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gateway.model.errors import MemoryRejectedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway.model.ids import PeerId, SessionId
    from gateway.ports import Memory

#: conclusions that are asked for at once
PAGE = 100
#: rounds of deleting them: a service that goes on showing what it deleted is left alone
ROUNDS = 1000


async def forget(
    memory: Memory,
    *,
    sessions: Iterable[SessionId],
    peers: Iterable[PeerId],
    others: Iterable[PeerId],
) -> None:
    """Delete sessions, and what ``peers`` and the ``others`` concluded about one another.

    What the others know of each other stays. Raises ``MemoryServiceError``.
    """
    for session in sessions:
        await memory.delete_session(session)
    theirs = dict.fromkeys(peers)
    around = dict.fromkeys((*theirs, *others))
    for peer in theirs:
        for each in around:
            for pair in dict.fromkeys(((each, peer), (peer, each))):
                await _forget_pair(memory, *pair)


async def _forget_pair(memory: Memory, observer: PeerId, observed: PeerId) -> None:
    for _ in range(ROUNDS):
        found = await memory.conclusions(observer, observed, limit=PAGE)
        for id_, _text in found:
            with suppress(MemoryRejectedError):  # gone with another one that it hung on
                await memory.forget_conclusion(observer, observed, id_)
        if len(found) < PAGE:
            break
    if await memory.card(observer, observed):
        await memory.set_card(observer, observed, ())
