"""Which memory service is used, and where the key of the other one is kept meanwhile. Pure.

A server of one's own stands in the host block, address and token together, so that it never
takes the place of a cloud key at the root. What is switched off moves to ``kept`` beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gateway.settings.honcho import HOSTS, KEPT, SPELLINGS, host_block
from gateway.settings.honcho_keys import CLOUD
from gateway.settings.nodes import Node, Scalar, Table
from gateway.settings.splice import REMOVE
from gateway.setup.drafts import Draft

if TYPE_CHECKING:
    from gateway.settings.honcho_schema import HonchoSettings

CLOUD_HOST = "honcho.dev"
LOCAL_DEFAULT = "http://localhost:8000"
KEY_VARIABLE = "HONCHO_API_KEY"


class Where(StrEnum):
    """Where memory is kept."""

    BUILTIN = "builtin"
    CLOUD = "cloud"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Stored:
    """An address and a key as the file has them; "" for what it does not."""

    url: str = ""
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Connections:
    """All that honcho.json and .env hold about memory services."""

    #: name of the profile's block in ``hosts``
    block: str
    host: Stored
    root: Stored
    cloud_kept: Stored
    server_kept: Stored
    #: ``environment`` that holds for the host
    environment: str
    #: HONCHO_API_KEY, from .env or the process
    variable: str = field(default="", repr=False)
    #: ... stands in .env, where it can be changed
    variable_in_file: bool = False
    #: the host block has a key, perhaps an empty one
    host_has_key: bool = False

    @property
    def present(self) -> Where:
        """The service that is in use, the cloud where none is."""
        url = self.host.url or self.root.url
        if url:
            return Where.CLOUD if _in_cloud(url) else Where.SERVER
        return Where.SERVER if self.environment == "local" else Where.CLOUD

    @property
    def cloud(self) -> Stored:
        """What is known for the cloud."""
        if self.present is Where.CLOUD:
            key = self.host.key or self.root.key or self.variable
            return Stored(self.host.url or self.root.url, key)
        beside = "" if self.root.url and not _in_cloud(self.root.url) else self.root.key
        return Stored(self.cloud_kept.url, self.cloud_kept.key or beside or self.variable)

    @property
    def server(self) -> Stored:
        """What is known for a server of one's own."""
        if self.present is Where.CLOUD:
            if self.server_kept.url:
                return self.server_kept
            mine = self.root.url and not _in_cloud(self.root.url)
            return self.root if mine else Stored()
        if self.host.url or self.host_has_key:
            return Stored(self.host.url or self.root.url or LOCAL_DEFAULT, self.host.key)
        return Stored(self.root.url or LOCAL_DEFAULT, self.root.key)


def _in_cloud(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == CLOUD_HOST or host.endswith(f".{CLOUD_HOST}")


def read(
    root: Table,
    hosts: tuple[str, ...],
    settings: HonchoSettings,
    *,
    variable: str,
    variable_in_file: bool,
) -> Connections:
    """Return what the file's tree and the variable hold."""
    found = host_block(root, hosts)
    name, block = (hosts[0], None) if found is None else found
    table = block if isinstance(block, Table) else Table(root.source)
    return Connections(
        name,
        _stored(table),
        _stored(root),
        _stored(table.get(KEPT, Where.CLOUD.value)),
        _stored(table.get(KEPT, Where.SERVER.value)),
        settings.environment,
        variable=variable,
        variable_in_file=variable_in_file,
        host_has_key=any(table.get(one) is not None for one in _spellings("apiKey")),
    )


def _spellings(key: str) -> tuple[str, ...]:
    return (key, *(old for old, new in SPELLINGS.items() if new == key))


def _stored(node: Node | None) -> Stored:
    if not isinstance(node, Table):
        return Stored()
    return Stored(_text(node, "baseUrl").rstrip("/"), _text(node, "apiKey"))


def _text(table: Table, key: str) -> str:
    nodes = (table.get(name) for name in _spellings(key))
    found = next((node for node in nodes if node is not None), None)
    return found.text.strip() if isinstance(found, Scalar) and not found.null else ""


def use_cloud(now: Connections, key: str) -> Draft:
    """Return what leads to the cloud with ``key``, which may be the one that is stored."""
    if now.present is Where.SERVER:
        return _away_from_server(now, key)
    draft = Draft()
    if key == now.cloud.key:
        return draft
    if now.variable_in_file and not (now.host.key or now.root.key):
        draft.env[KEY_VARIABLE] = key
    else:
        draft.honcho["apiKey",] = key
    return draft


def _away_from_server(now: Connections, key: str) -> Draft:
    draft, block = Draft(), (HOSTS, now.block)
    _put_aside(draft, now, Where.SERVER, now.server)
    own_at_root = bool(now.root.url) and not _in_cloud(now.root.url)
    address = now.cloud_kept.url or (CLOUD if own_at_root else "")
    if address:
        draft.honcho[*block, "baseUrl"] = address
    elif now.host.url:
        draft.honcho[*block, "baseUrl"] = REMOVE
    if now.environment != "production":
        draft.honcho[*block, "environment"] = "production"
    if address or key != (now.root.key or now.variable):
        draft.honcho[*block, "apiKey"] = key
    elif now.host_has_key:
        draft.honcho[*block, "apiKey"] = REMOVE
    _taken_up(draft, now, Where.CLOUD, now.cloud_kept)
    return draft


def use_server(now: Connections, url: str, token: str) -> Draft:
    """Return what leads to a server of one's own; "" is no token."""
    draft, block = Draft(), (HOSTS, now.block)
    url = url.strip().rstrip("/")
    if now.present is Where.SERVER and (url, token) == (now.server.url, now.server.key):
        return draft
    if now.present is Where.CLOUD:
        _put_aside(draft, now, Where.CLOUD, now.host)
    draft.honcho[*block, "baseUrl"] = url
    if token or now.root.key or now.variable or now.host_has_key:
        # An empty key of its own keeps a key for the cloud from being sent to this server.
        draft.honcho[*block, "apiKey"] = token
    _taken_up(draft, now, Where.SERVER, now.server_kept)
    return draft


def _put_aside(draft: Draft, now: Connections, which: Where, what: Stored) -> None:
    kept = {"baseUrl": what.url, "apiKey": what.key}
    if held := {key: value for key, value in kept.items() if value}:
        draft.honcho[HOSTS, now.block, KEPT, which.value] = dict(held)


def _taken_up(draft: Draft, now: Connections, which: Where, kept: Stored) -> None:
    if kept != Stored():
        draft.honcho[HOSTS, now.block, KEPT, which.value] = REMOVE
