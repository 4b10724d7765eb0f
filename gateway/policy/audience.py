"""What may be said where: one person's memory is not for everybody in the room."""

from __future__ import annotations

from enum import StrEnum


class Audience(StrEnum):
    """Who hears an answer, and with that what may go into its prompt."""

    #: the person alone
    PERSONAL = "personal"
    #: others too: nothing but what was said in this place
    SHARED = "shared"
    #: others too, and the operator allows everything
    OPEN = "open"

    @property
    def limited(self) -> bool:
        """True where only the place's own session may be used."""
        return self is Audience.SHARED


def audience(*, personal: bool, strict: bool) -> Audience:
    """Return the audience of a turn. ``personal``: a direct message or the console.

    A group conversation that one person has to themselves is still heard by the group.
    """
    if personal:
        return Audience.PERSONAL
    return Audience.SHARED if strict else Audience.OPEN


#: tools that a shared place must not offer: their answers are about a person, not the place
HIDDEN_WHEN_SHARED = frozenset({"honcho_profile", "honcho_reasoning", "honcho_recall"})


def visible(tools: frozenset[str], where: Audience) -> frozenset[str]:
    """Return which of ``tools`` the model may see."""
    return tools - HIDDEN_WHEN_SHARED if where.limited else tools
