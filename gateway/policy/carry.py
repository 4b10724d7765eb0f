"""What one profile's memory settings carry over to another's, and what stays its own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: who the agent is, and which place has which session: always the profile's own
OWN = ("aiPeer", "sessions")
#: one server: carried together, and only where a profile names none
CONNECTION = ("baseUrl", "apiKey", "environment", "timeout")
#: what decides who is who, and whether there is memory at all: where a profile says nothing of it
UNLESS_SAID = (
    *("peerName", "pinUserPeer", "userPeerAliases", "runtimePeerPrefix"),
    *("workspace", "enabled"),
)
WORKSPACE, AGENT = "workspace", "aiPeer"
#: what would leave a profile's memory behind
MOVES = ("baseUrl", "apiKey", "environment", WORKSPACE)


class Fate(StrEnum):
    """What becomes of a key."""

    WRITTEN = "written"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Said:
    """What a host's settings say, by present spelling of the keys."""

    #: in the host's block
    own: Mapping[str, Any]
    #: at the root of the file
    general: Mapping[str, Any]
    #: the block's name as it stands there, "" where there is none yet
    block: str = ""

    def __contains__(self, key: str) -> bool:
        return key in self.own or key in self.general

    def value(self, key: str) -> Any:
        """Return what holds, None where nothing is said."""
        return self.own.get(key, self.general.get(key))


@dataclass(frozen=True, slots=True)
class Side:
    """One profile: what its settings say, and its state."""

    said: Said
    #: its name at the service when nothing names it otherwise
    host: str
    #: it has spoken with somebody already
    used: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One key of a profile. ``why`` says why it is kept."""

    key: str
    before: Any
    after: Any
    fate: Fate
    why: str = ""


def plan(source: Side, target: Side, defaults: Mapping[str, Any], *, one_file: bool) -> list[Step]:
    """Return what is to be written into the target's block, and what is kept although it differs.

    ``one_file``: both are blocks of the same file, so that its root speaks for both. Keys that
    the source does not set are not touched. ``defaults`` are the values of keys nobody sets.
    """
    steps = [
        step
        for key in defaults
        if key in source.said and key not in OWN
        for step in _step(key, source, target, defaults, one_file=one_file)
    ]
    return [*steps, *_agent(source, target)]


def _step(
    key: str, source: Side, target: Side, defaults: Mapping[str, Any], *, one_file: bool
) -> Iterator[Step]:
    wanted = source.said.value(key)
    present = _effective(key, target, defaults)
    if wanted == present:
        return
    why = _reason(key, target, one_file=one_file)
    yield Step(key, present, wanted, Fate.KEPT if why else Fate.WRITTEN, why)


def _effective(key: str, side: Side, defaults: Mapping[str, Any]) -> Any:
    if key in side.said:
        return side.said.value(key)
    return side.host if key == WORKSPACE else defaults[key]


def _reason(key: str, target: Side, *, one_file: bool) -> str:
    """Return why the target keeps its own value, "" where it does not."""
    said = target.said.own if one_file else {**target.said.general, **target.said.own}
    if key in CONNECTION and ("baseUrl" in said or "apiKey" in said):
        return "it has a server of its own"
    if key in UNLESS_SAID and key in said:
        return "it says so itself"
    if key in MOVES and target.used:
        return "what it remembers is there"
    return ""


def _agent(source: Side, target: Side) -> Iterator[Step]:
    """A profile whose agent would be the source's gets one of its own."""
    named = target.said.value(AGENT)
    if named is not None and named == source.said.value(AGENT) and AGENT not in target.said.own:
        yield Step(AGENT, named, target.host, Fate.WRITTEN)
