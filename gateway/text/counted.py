"""Numbers with their nouns, in English, as commands print them. Pure."""

from __future__ import annotations

_IRREGULAR = {"person": "people"}


def counted(number: int, one: str, many: str = "") -> str:
    """Return ``1 message``, ``2 messages`` or the like; ``many`` where the plural is not plain."""
    return f"{number:,} {one if number == 1 else many or plural(one)}"


def plural(noun: str) -> str:
    """Return the plural of a noun, whose last word is the one that changes."""
    head, blank, last = noun.rpartition(" ")
    return f"{head}{blank}{_IRREGULAR.get(last) or _regular(last)}"


def singular(noun: str) -> str:
    """Return what ``plural`` makes ``noun`` of."""
    head, blank, last = noun.rpartition(" ")
    known = {many: one for one, many in _IRREGULAR.items()}
    if last in known:
        return f"{head}{blank}{known[last]}"
    if last.endswith("ies"):
        return f"{head}{blank}{last[:-3]}y"
    return noun.removesuffix("s")


def _regular(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in ("a", "e", "o", "u"):
        return f"{noun[:-1]}ies"
    return f"{noun}s"
