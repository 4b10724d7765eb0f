"""The entries of MEMORY.md and USER.md: reading, changing and showing them. Pure.

A file is a list of entries joined by a line that holds only ``§``. People edit these files, so
whatever stands between two such lines is an entry, long or short, twice or once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Entries = tuple[str, ...]

JOINT = "\n§\n"
RULE = "═" * 46
_SEPARATOR = re.compile(r"(?m)^[^\S\n]*§[^\S\n]*$\n?")
_PREVIEW = 80


class Action(StrEnum):
    """What can be done to a file."""

    ADD = "add"
    REPLACE = "replace"
    REMOVE = "remove"


class Target(StrEnum):
    """Which of the two files."""

    MEMORY = "memory"
    USER = "user"

    @property
    def file(self) -> str:
        """The file's name."""
        return f"{self.name}.md"

    @property
    def label(self) -> str:
        """How the file is called in messages."""
        return "Memory" if self is Target.MEMORY else "User profile"

    @property
    def heading(self) -> str:
        """How the file is called in the prompt."""
        if self is Target.MEMORY:
            return "MEMORY (your personal notes)"
        return "USER PROFILE (who the user is)"


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done to one file. ``old_text`` finds the entry to replace or remove."""

    action: Action
    target: Target
    content: str = ""
    old_text: str = ""


class ChangeError(Exception):
    """A change that is not made. ``entries`` are those that matter, for whoever may see them.

    ``hidden`` says the same without a word of what the file holds.
    """

    def __init__(self, said: str, *, hidden: str, key: str, entries: Sequence[str]) -> None:
        super().__init__(said)
        self.hidden = hidden
        #: under which name the answer lists ``entries``
        self.key = key
        self.entries = list(entries)


def parse(text: str) -> Entries:
    """Return the entries of a file's text."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    pieces = (piece.strip() for piece in _SEPARATOR.split(text))
    return tuple(piece for piece in pieces if piece)


def dump(entries: Sequence[str]) -> str:
    """Return a file's text; nothing at all for no entries."""
    return JOINT.join(entries) + "\n" if entries else ""


def size(entries: Sequence[str]) -> int:
    """Return how many characters the entries take, joints included."""
    return len(JOINT.join(entries))


def usage(entries: Sequence[str], limit: int) -> str:
    """Return how full a file is: ``67% — 1,474/2,200 chars``."""
    used = size(entries)
    return f"{min(100, used * 100 // limit)}% — {used:,}/{limit:,} chars"


def block(target: Target, entries: Sequence[str], limit: int) -> str:
    """Return a file as the prompt shows it, "" where it is empty."""
    if not entries:
        return ""
    head = f"{target.heading} [{usage(entries, limit)}]"
    return "\n".join((RULE, head, RULE, JOINT.join(entries)))


def apply(entries: Entries, change: Change, limit: int) -> Entries:
    """Return the entries after a change; the same where it had been made before.

    Raises ``ChangeError``. A file that an outside edit made too long may still shrink.
    """
    content = change.content.strip()
    if change.action is Action.ADD:
        if content in entries:
            return entries
        return _within(change, entries, (*entries, content), limit)
    found = _the_one(entries, change.old_text.strip())
    if change.action is Action.REMOVE:
        return tuple(entry for entry in entries if entry != found)
    replaced = dict.fromkeys(content if entry == found else entry for entry in entries)
    return _within(change, entries, tuple(replaced), limit)


def made(entries: Entries, change: Change) -> bool:
    """Tell whether a change stands in the entries already: nothing is left of what it changes."""
    content, old = change.content.strip(), change.old_text.strip()
    wanted = change.action is Action.REMOVE or content in entries
    return wanted and not any(old and old in entry for entry in entries if entry != content)


def merge(base: Entries, ours: Entries, theirs: Entries) -> Entries:
    """Return ``ours`` with what ``theirs`` did to ``base`` meanwhile: no addition is lost."""
    known, there = {*base, *ours}, set(theirs)
    removed = {entry for entry in base if entry not in there}
    kept = [entry for entry in ours if entry not in removed]
    return (*kept, *(entry for entry in theirs if entry not in known))


def _the_one(entries: Entries, old_text: str) -> str:
    matches = list(dict.fromkeys(entry for entry in entries if old_text in entry))
    if len(matches) == 1:
        return matches[0]
    hidden = "old_text fits no single entry. Go on in a direct message."
    if not matches:
        raise ChangeError(
            f"No entry matched '{old_text}'.",
            hidden=hidden,
            key="current_entries",
            entries=entries,
        )
    previews = [one if len(one) <= _PREVIEW else f"{one[:_PREVIEW]}..." for one in matches]
    raise ChangeError(
        f"Multiple entries matched '{old_text}'. Be more specific.",
        hidden=hidden,
        key="matches",
        entries=previews,
    )


def _within(change: Change, old: Entries, new: Entries, limit: int) -> Entries:
    if size(new) <= limit or size(new) < size(old):
        return new
    count = len(change.content.strip())
    doing = "Adding this entry" if change.action is Action.ADD else "Replacing it by this entry"
    label = change.target.label
    raise ChangeError(
        f"{label} at {size(old):,}/{limit:,} chars. "
        f"{doing} ({count:,} chars) would exceed the limit.",
        hidden=f"{label} is too full for this entry ({count:,} chars). "
        "Go on in a direct message to make room.",
        key="current_entries",
        entries=old,
    )
