"""MEMORY.md and USER.md on disk: the owner's in the home, everybody else's in a folder of theirs.

Each change is made under a lock to what the file holds at that moment, and is whole or nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.memory import swap
from gateway.memory.entries import Target, apply, dump, merge, parse
from gateway.model.errors import ToolError
from gateway.settings.home import make_private_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gateway.memory.entries import Change, Entries
    from gateway.model.ids import PeerId
    from gateway.settings.home import Home
    from gateway.settings.schema import HonchoSettings, MemorySettings


@dataclass(frozen=True, slots=True)
class FileRules:
    """The keys of the configuration that are about the two files."""

    #: the peer whose files are the home's own
    owner: PeerId | None
    #: which files there are
    enabled: frozenset[Target] = frozenset(Target)
    #: why a file is not written to by the agent, e.g. ``userMemoryMode is honcho``
    closed: dict[Target, str] = field(default_factory=dict)
    limits: dict[Target, int] = field(
        default_factory=lambda: {Target.MEMORY: 2200, Target.USER: 1375}
    )
    #: a write waits for the person's yes
    approval: bool = False


def file_rules(
    memory: MemorySettings, honcho: HonchoSettings, *, owner: PeerId | None
) -> FileRules:
    """Return what the configuration says of the files."""
    switches = {
        Target.MEMORY: memory.memory_enabled,
        Target.USER: memory.user_profile_enabled,
    }
    modes = {
        Target.MEMORY: ("agentMemoryMode", honcho.agent_mode),
        Target.USER: ("userMemoryMode", honcho.user_mode),
    }
    return FileRules(
        owner=owner,
        enabled=frozenset(target for target, on in switches.items() if on),
        closed={
            target: f"{key} is honcho, so it is the memory service that keeps this"
            for target, (key, mode) in modes.items()
            if mode == "honcho"
        },
        limits={Target.MEMORY: memory.memory_char_limit, Target.USER: memory.user_char_limit},
        approval=memory.write_approval,
    )


class MemoryFiles:
    """The files of all people of one home. ``rules`` is asked each time: a reload counts."""

    def __init__(self, home: Home, rules: Callable[[], FileRules]) -> None:
        self._home = home
        self._rules = rules

    @property
    def rules(self) -> FileRules:
        """The rules in force."""
        return self._rules()

    def path(self, peer: PeerId, target: Target) -> Path:
        """Return where a person's file is."""
        own = peer == self._rules().owner
        return (self._home.memories if own else self._home.person(peer)) / target.file

    async def read(self, peer: PeerId, target: Target) -> Entries:
        """Return the entries; none where there is no file. Raises ``ToolError``."""
        return await asyncio.to_thread(read, self.path(peer, target))

    async def change(self, peer: PeerId, change: Change) -> tuple[Entries, bool]:
        """Make a change; return the entries behind it and whether they are others than before.

        Raises ``ChangeError`` when it cannot be made, ``ToolError`` when the file is in the way.
        """
        limit = self._rules().limits[change.target]
        path = self.path(peer, change.target)
        return await asyncio.to_thread(update, path, lambda entries: apply(entries, change, limit))


def read(path: Path) -> Entries:
    """Return the entries of a file. Raises ``ToolError``."""
    try:
        target = path.resolve()
        if target.parent.is_dir():
            with swap.locked(target.parent):
                _recover(target)
                return _decode(target, swap.read(target))
    except OSError as error:
        raise _unusable(path, error) from None
    return ()


def update(path: Path, make: Callable[[Entries], Entries]) -> tuple[Entries, bool]:
    """Give a file the entries that ``make`` makes of its present ones.

    Returns them, and whether anything changed. What ``make`` raises leaves the file as it is.
    """
    try:
        target = path.resolve()
        make_private_folder(target.parent)
        with swap.locked(target.parent):
            _recover(target)
            return _update(target, make)
    except OSError as error:
        raise _unusable(path, error) from None


def _update(target: Path, make: Callable[[Entries], Entries]) -> tuple[Entries, bool]:
    present = swap.read(target)
    before = _decode(target, present)
    wanted = make(before)
    if wanted == before:
        return before, False
    return _write(target, wanted, present), True


def _write(target: Path, wanted: Entries, present: bytes) -> Entries:
    """Write until nobody was in between; what somebody wrote meanwhile is taken in."""
    while True:
        data = dump(wanted).encode()
        displaced = swap.swap(target, data, present)
        theirs = parse(displaced.decode(errors="replace"))
        merged = merge(_decode(target, present), wanted, theirs)
        if merged == wanted:
            swap.forget(target)
            return wanted
        wanted, present = merged, data


def _recover(target: Path) -> None:
    """Take in what a killed process had displaced, then tidy up after it."""
    for data in swap.leftovers(target):
        present = swap.read(target)
        entries = _decode(target, present)
        both = merge((), entries, parse(data.decode(errors="replace")))
        if both != entries:
            _write(target, both, present)
    swap.forget(target)


def _decode(path: Path, data: bytes) -> Entries:
    try:
        return parse(data.decode())
    except UnicodeDecodeError:
        raise ToolError(f"{path.name} is not UTF-8: save it as UTF-8, then try again") from None


def _unusable(path: Path, error: OSError) -> ToolError:
    reason = (error.strerror or type(error).__name__).lower()
    return ToolError(f"{path.name} cannot be used ({reason}); tell the operator")
