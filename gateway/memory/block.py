"""The recalled block: layers in their order, cut to a budget at a word boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.store.recall import Base

#: characters of a token, as budgets count them
PER_TOKEN = 4
#: the longest representation, also without a budget
REPRESENTATION_LIMIT = 8000

#: sections of the base layer in their order, with the heading each gets
SECTIONS = {
    "summary": "This conversation so far",
    "representation": "What is known of the person",
    "card": "Facts about the person",
    "self": "What the agent has learnt about itself",
    "identity": "The agent's own facts",
}
DIALECTIC = "What may matter now"


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer that went into a prompt, for the trace: no text."""

    name: str
    #: 0: nothing came in the time that this turn waited
    chars: int
    #: the person's turns since it was fetched; 0: for this very turn
    age: int
    #: seconds that this turn waited for it
    waited: float = 0.0


def compose(base: Base | None, dialectic: str, *, tokens: int | None) -> str:
    """Return the block's text, "" where nothing is known. ``tokens`` None: no budget."""
    pieces = []
    for name, heading in SECTIONS.items():
        text = (base or {}).get(name, "").strip()
        if text:
            pieces.append(f"{heading}:\n{text}")
    if dialectic.strip():
        pieces.append(f"{DIALECTIC}:\n{dialectic.strip()}")
    whole = "\n\n".join(pieces)
    return whole if tokens is None else cut(whole, tokens * PER_TOKEN)


def cut(text: str, limit: int) -> str:
    """Return at most ``limit`` characters, ending at a word boundary."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    end = max(head.rfind(" "), head.rfind("\n"))
    return (head[:end] if end > 0 else text[:limit]).rstrip()
