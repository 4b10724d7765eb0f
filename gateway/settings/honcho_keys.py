"""Which of several keys goes to the memory service. Pure.

An address that is more specific than a key names a server which that key may not be for: only what
stands beside the address, or before it, or names the same server, is sent there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gateway.settings.nodes import Entry, Node, Scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.settings.findings import Findings

#: where a key without an address is for
CLOUD = "https://api.honcho.dev"
KEY, ADDRESS = "apiKey", "baseUrl"
_VERSION = re.compile(r"/v[0-9]+/*$")


@dataclass(slots=True)
class Level:
    """One table of the file, or the environment (which has no path), and where it stands."""

    path: tuple[str, ...]
    keys: dict[str, Entry]
    in_file: bool = True


def canonical(url: str) -> str:
    """Return an address without what makes no other server of it."""
    return _VERSION.sub("", url.strip()).rstrip("/")


def keep_with_server(levels: Sequence[Level], findings: Findings) -> None:
    """Take away each key that is for another server than the one that is in use.

    ``levels`` stand in the order in which they win. An address at the root of the file and a key
    in the environment belong together unless the environment has an address of its own: both hold
    for everything in this home.
    """
    at, address = _address(levels)
    if not address:
        return
    for index, level in enumerate(levels):
        if KEY not in level.keys:
            continue
        if index <= at or _for_server(levels, index, at, address):
            return
        _drop(level, levels[at], findings)


def _address(levels: Sequence[Level]) -> tuple[int, str]:
    """Return the first address that is given and the index of its level; "" if there is none."""
    for index, level in enumerate(levels):
        if ADDRESS in level.keys:
            return index, _text(level.keys[ADDRESS].value)
    return len(levels), ""


def _for_server(levels: Sequence[Level], index: int, at: int, address: str) -> bool:
    _, own = _address(levels[index:])
    if own:
        return _same(own, address)
    return _same(CLOUD, address) or not levels[at].path


def _drop(level: Level, server: Level, findings: Findings) -> None:
    dropped = level.keys.pop(KEY)
    where = "the host block's baseUrl" if server.path else "the file's baseUrl"
    also = "" if level.in_file else ", or set HONCHO_BASE_URL to the same address"
    problem = f"not sent to {where}; write an apiKey beside that, if it needs one{also}"
    findings.warn(dropped.key.source, (dropped.key.text,), problem)


def _same(one: str, other: str) -> bool:
    return _server(one) == _server(other)


def _server(url: str) -> tuple[str, str, str]:
    parts = urlsplit(canonical(url))
    return parts.scheme.lower(), parts.netloc.lower(), parts.path


def _text(node: Node) -> str:
    return node.text.strip() if isinstance(node, Scalar) and not node.null else ""
