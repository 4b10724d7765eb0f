"""The words of a message: Slack's markup as readable text, the bot's mention taken out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.text.clean import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.model.ids import UserId

#: what Slack marked; a ``<`` that somebody typed comes as ``&lt;``
_MARK = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_ENTITY = re.compile("|".join(_ENTITIES))


@dataclass(frozen=True, slots=True)
class Words:
    """What was said, without the first mention of the bot."""

    text: str
    mentioned: bool = False


def read_words(raw: str, me: UserId, *, name_of: Callable[[str], str] = str) -> Words:
    """Return readable words; a mention counts only where Slack marked it.

    Exactly one mention of ``me`` goes, with one blank beside it. ``name_of`` gives people's
    names for mentions that came without one.
    """
    own = next((mark for mark in _MARK.finditer(raw) if _names(mark, me)), None)
    if own is None:
        return Words(clean(readable(raw, name_of=name_of)))
    before, after = raw[: own.start()], raw[own.end() :]
    if after[:1].isspace() and (not before or before[-1].isspace()):
        after = after[1:]
    elif not after and before[-1:].isspace():
        before = before[:-1]
    return Words(clean(readable(before + after, name_of=name_of)), mentioned=True)


def readable(raw: str, *, name_of: Callable[[str], str] = str) -> str:
    """Return Slack's markup as a person reads it: names, labels, addresses, plain ``<&>``."""
    pieces, position = [], 0
    for mark in _MARK.finditer(raw):
        pieces += [_unescape(raw[position : mark.start()]), _unescape(_shown(mark, name_of))]
        position = mark.end()
    return "".join([*pieces, _unescape(raw[position:])])


def _names(mark: re.Match[str], me: UserId) -> bool:
    return mark[1] == "@" and mark[2] == me


def _unescape(text: str) -> str:
    return _ENTITY.sub(lambda entity: _ENTITIES[entity[0]], text)


def _shown(mark: re.Match[str], name_of: Callable[[str], str]) -> str:
    sign, target, label = mark[1], mark[2], mark[3] or ""
    match sign:
        case "@":
            return f"@{label or name_of(target)}"
        case "#":
            return f"#{label or target}"
        case "!":
            return _special(target, label)
    return _link(target, label)


def _special(target: str, label: str) -> str:
    """``<!here>``, ``<!subteam^S1|@ops>``, ``<!date^…^…|June 1>``."""
    if target.startswith("date^"):
        return label
    name = label or target.split("^")[-1]
    return name if name.startswith("@") else f"@{name}"


def _link(address: str, label: str) -> str:
    """Return the label with the address behind it, unless it shows the address already."""
    bare = re.sub(r"^(?:https?://|mailto:|tel:)", "", address)
    if not label or label in (address, bare):
        return label or address
    return f"{label} ({address})"
