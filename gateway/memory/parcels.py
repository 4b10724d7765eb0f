"""Ledger rows as the messages that the service takes: cut to its size, grouped to its number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model.ids import LedgerKey
from gateway.model.memory import MemoryMessage
from gateway.policy.saving import BATCH
from gateway.text.chunk import chunks
from gateway.text.marks import break_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gateway.store.sending import Row


@dataclass(frozen=True, slots=True)
class Parcel:
    """One row and the messages that it is sent as: one, or its numbered parts."""

    row: Row
    messages: tuple[MemoryMessage, ...]

    @property
    def keys(self) -> frozenset[LedgerKey]:
        """The keys by which the service is asked for them."""
        return frozenset(message.key for message in self.messages)


def pack(row: Row) -> Parcel:
    """Cut a row that is in flight, by the limit of its first send: so keys keep their meaning.

    Parts are made of the text as it travels, marks broken up: no part grows too long.
    """
    if row.part_limit is None:
        raise LookupError("a row in flight has no limit")
    parts = chunks(break_up(row.text), row.part_limit)
    if len(parts) == 1:
        return Parcel(row, (MemoryMessage(row.key, row.peer, parts[0].text, row.sent_at),))
    return Parcel(
        row,
        tuple(
            MemoryMessage(LedgerKey(f"{row.key}.{number}"), row.peer, part.text, row.sent_at)
            for number, part in enumerate(parts, 1)
        ),
    )


def groups(parcels: Iterable[Parcel]) -> Iterator[list[Parcel]]:
    """Yield parcels in order, so many that they fit one request; a larger one stays alone."""
    group: list[Parcel] = []
    room = BATCH
    for parcel in parcels:
        if group and len(parcel.messages) > room:
            yield group
            group, room = [], BATCH
        group.append(parcel)
        room -= len(parcel.messages)
    if group:
        yield group
