"""Faults that lie between keys, each of which is fine alone."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from gateway.policy import naming
from gateway.policy.hosts import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.settings.findings import Findings
    from gateway.settings.nodes import Source, Table
    from gateway.settings.schema import HonchoSettings, Settings


#: keys of the schema that nothing reads yet, and what holds instead
_NO_EFFECT_YET = {
    ("conversations", "reactions"): "messages get no reactions",
    ("telemetry",): "nothing is exported",
}


@dataclass(frozen=True, slots=True)
class Places:
    """Where the keys stand, for the lines of the faults."""

    role: Source
    honcho: Source
    keys: Mapping[str, Source]
    aliases: Mapping[str, Source]

    def key(self, name: str) -> Source:
        return self.keys.get(name, self.honcho)


def check(settings: Settings, honcho: HonchoSettings, places: Places, findings: Findings) -> None:
    """Record what does not fit together."""
    _check_pin(settings, honcho, places, findings)
    _check_agent_name(honcho, places, findings)
    _check_levels(honcho, places, findings)
    if settings.role != "all" and not (settings.store.url or "").startswith("postgres"):
        problem = f"{settings.role} needs store.url: postgresql://…; or write role: all"
        findings.fault(places.role, ("role",), problem)


def check_exposure(settings: Settings, config: Table, findings: Findings) -> None:
    """Say so where other machines reach the operator's page."""
    written, host = config.get("web", "host"), settings.web.host
    if written is None or not settings.web.enabled or is_loopback(host):
        return
    findings.warn(
        written.source,
        ("web", "host"),
        f"other machines reach the operator's page at {host}; nobody can sign in from there "
        "unless a proxy with TLS stands in front, which is better with web.host: 127.0.0.1",
    )


def check_effect(settings: Settings, config: Table, findings: Findings) -> None:
    """Say which written values do nothing yet, so that nobody relies on them."""
    defaults = type(settings)()
    for path, instead in _NO_EFFECT_YET.items():
        written = config.get(*path)
        value = attrgetter(".".join(path))
        if written is not None and value(settings) != value(defaults):
            findings.warn(written.source, path, f"has no effect in this version: {instead}")


def _check_pin(
    settings: Settings, honcho: HonchoSettings, places: Places, findings: Findings
) -> None:
    if not honcho.pin_user_peer:
        return
    source = places.key("pinUserPeer")
    if not honcho.peer_name:
        problem = "true needs peerName; write your name there, or false here"
        findings.fault(source, ("pinUserPeer",), problem)
        return
    access = settings.access
    accounts = sum(map(len, access.allow.values()))
    many = accounts > 1 or any(access.places.values()) or any(access.allow_all.values())
    if many:
        findings.warn(
            source,
            ("pinUserPeer",),
            f"everybody whom access admits is {honcho.peer_name}, with that one memory; "
            "write false to keep people apart",
        )


def _check_agent_name(honcho: HonchoSettings, places: Places, findings: Findings) -> None:
    agent = _service_name(honcho.ai_peer)
    own = "aiPeer" if "aiPeer" in places.keys else "aiPeer (by default the host's name)"
    problem = f"{honcho.ai_peer} is {own} too; give one of them another name"
    if honcho.peer_name and _service_name(honcho.peer_name) == agent:
        findings.fault(places.key("peerName"), ("peerName",), problem)
    for key, target in honcho.user_peer_aliases.items():
        if _service_name(target) == agent:
            findings.fault(places.aliases[key], ("userPeerAliases", key), problem)


def _service_name(name: str) -> str:
    return next(naming.candidates(name))


def _check_levels(honcho: HonchoSettings, places: Places, findings: Findings) -> None:
    levels = honcho.dialectic_depth_levels
    if levels is not None and len(levels) < honcho.dialectic_depth:
        problem = (
            f"{len(levels)} of {honcho.dialectic_depth} levels (dialecticDepth); "
            "write one for each pass, or null"
        )
        findings.fault(places.key("dialecticDepthLevels"), ("dialecticDepthLevels",), problem)
