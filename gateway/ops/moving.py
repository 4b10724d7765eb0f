"""What becomes of an OpenClaw installation here: a plan to look at, then to carry out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gateway.model.errors import ConfigurationError
from gateway.ops import openclaw
from gateway.people.requests import clean_key, clean_name
from gateway.policy import naming

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from gateway.ops.openclaw import OpenClaw, Written
    from gateway.policy.carry import Said
    from gateway.settings.home import Home

#: whose file each is: the agent's own, then what is told to nobody here
_OF_AGENT = ("SOUL.md", "IDENTITY.md", "AGENTS.md")
_FOR_AGENT = ("TOOLS.md", "BOOTSTRAP.md")
_NOT_USED = {"HEARTBEAT.md": "nothing happens by the clock here"}
_SENDER = re.compile(r"(telegram|discord|slack)[-:_](.+)")


class Act(StrEnum):
    """What is done with a thing."""

    SET = "set"
    COPY = "copy"
    UPLOAD = "upload"
    LEAVE = "leave"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was found, and what becomes of it. ``why`` says why it is left."""

    part: str
    what: str
    act: Act
    to: str
    why: str = ""
    #: key and value of ``set``; the key of a secret is never shown
    key: tuple[str, ...] = ()
    value: Any = None
    #: what is copied or uploaded, and where a copy goes
    source: Written | None = None
    target: Path | None = None
    #: whom an upload tells something about: ``agent`` or ``owner``
    about: str = ""


@dataclass(frozen=True, slots=True)
class Ours:
    """What is here already."""

    home: Home
    said: Said
    #: an environment variable or a file holds a key
    has_key: bool
    #: somebody has spoken here
    used: bool
    platforms: Collection[str]
    #: agent → peer, as the workspace of the old installation has them
    agents: Mapping[str, str]
    #: digests of what the service was given from here
    given: frozenset[str]
    #: most characters of MEMORY.md and USER.md
    limits: Mapping[str, int]


def plan(found: OpenClaw, ours: Ours) -> list[Step]:
    """Return every step. A step that is done already is left with the reason."""
    return [*_server(found, ours), *_people(found, ours), *_files(found, ours)]


def _server(found: OpenClaw, ours: Ours) -> Iterator[Step]:
    theirs = found.settings
    own_server = theirs.get("baseUrl")
    if own_server:
        yield _setting("server", "baseUrl", own_server, ours)
    if key := theirs.get("apiKey"):
        has_one = ours.has_key or "apiKey" in ours.said
        to = "apiKey in honcho.json" if own_server else "HONCHO_API_KEY in .env"
        if has_one:
            yield Step("server", "apiKey", Act.LEAVE, to, "there is a key already")
        else:
            place = ("apiKey",) if own_server else ("HONCHO_API_KEY",)
            yield Step("server", "apiKey", Act.SET, to, key=place, value=key)
    if isinstance(milliseconds := theirs.get("timeoutMs"), int | float):
        yield _setting("server", "timeout", max(1, round(milliseconds / 1000)), ours)
    workspace = theirs.get("workspaceId") or openclaw.WORKSPACE
    if ours.used and "workspace" not in ours.said:
        why = "what was said here is in another one; memory replay can carry it"
        yield Step("server", "workspace", Act.LEAVE, str(workspace), why)
    else:
        yield _setting("server", "workspace", workspace, ours)


def _setting(part: str, key: str, value: Any, ours: Ours) -> Step:
    to = f"{key}: {value}"
    if key not in ours.said:
        return Step(part, key, Act.SET, to, key=(key,), value=value)
    present = ours.said.value(key)
    why = "is so already" if present == value else f"{key} is {present} here"
    return Step(part, key, Act.LEAVE, to, why)


def _people(found: OpenClaw, ours: Ours) -> Iterator[Step]:
    agent = ours.agents.get(found.agent) or ours.agents.get("default") or f"agent-{found.agent}"
    owner = _setting("people", "peerName", openclaw.OWNER, ours)
    if owner.act is Act.LEAVE and ours.said.value("peerName") != openclaw.OWNER:
        more = f"{owner.why}; what OpenClaw knows of the owner is under {openclaw.OWNER}: "
        owner = replace(owner, why=f"{more}honcho peer --user {openclaw.OWNER}")
    yield owner
    yield _setting("people", "aiPeer", agent, ours)
    present = ours.said.value("userPeerAliases")
    known = present if isinstance(present, dict) else {}
    for sender, peer in found.peers.items():
        yield _alias(sender, peer, known, ours.platforms)
    if found.strangers_are_owner:
        why = "everybody unknown was the owner there; here each account is a person of its own"
        yield Step("people", "defaultUnknownPolicy", Act.LEAVE, "", why)


def _alias(sender: str, peer: str, known: Mapping[str, Any], platforms: Collection[str]) -> Step:
    named = _SENDER.fullmatch(sender)
    try:
        key = clean_key(f"{named[1]}:{named[2]}" if named else sender, platforms)
        name = clean_name(peer)
    except ConfigurationError:
        return Step("people", sender, Act.LEAVE, peer, "no account of a platform that is here")
    if key == name:
        return Step("people", sender, Act.LEAVE, name, "goes by this name in any case")
    if key in known:
        return Step("people", sender, Act.LEAVE, name, f"is {known[key]} here")
    return Step(
        "people", sender, Act.SET, f"{key} → {name}", key=("userPeerAliases", key), value=name
    )


def _files(found: OpenClaw, ours: Ours) -> Iterator[Step]:
    for one in found.files:
        if one.name in _NOT_USED:
            yield Step("files", one.name, Act.LEAVE, "", _NOT_USED[one.name])
        elif one.name in _OF_AGENT:
            yield _copy(one, ours.home.path / one.name)
        elif one.name in ours.limits and len(one.text.strip()) <= ours.limits[one.name]:
            yield _copy(one, ours.home.memories / one.name)
        elif one.uploaded or naming.digest(one.text) in ours.given:
            who = "by the plugin" if one.uploaded else "from here"
            yield Step("files", one.name, Act.LEAVE, "", f"the service was given it {who}")
        else:
            about = "agent" if one.name in _FOR_AGENT else "owner"
            to = f"the service, as what is known of the {about}"
            yield Step("files", one.name, Act.UPLOAD, to, source=one, about=about)


def _copy(one: Written, target: Path) -> Step:
    if openclaw.same_text(target, one.text):
        return Step("files", one.name, Act.LEAVE, str(target), "is there already")
    if target.exists():
        return Step(
            "files", one.name, Act.LEAVE, str(target), "another one is there; compare them"
        )
    return Step("files", one.name, Act.COPY, str(target), source=one, target=target)
