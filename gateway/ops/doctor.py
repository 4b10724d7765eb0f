"""Doctor: looks at everything that can be wrong with a home, and says what to do about it."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gateway.model.errors import StoreError
from gateway.model.ids import PlatformName, ScopeId, UserId
from gateway.ops import health, newcomer, watchman
from gateway.ops.environment import package_clash
from gateway.pipeline.addresses import written
from gateway.pipeline.linked import identity_of, linked_peers
from gateway.policy import identity_check
from gateway.policy.runtime_id import RuntimeId
from gateway.store import audit, erasing, ledger, links, migrate, names, readonly
from gateway.store.lock import ProcessLock
from gateway.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from gateway.pipeline.rules import Rules
    from gateway.policy.identity import IdentityRules
    from gateway.ports import Manifest
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.store.engine import Connection
    from gateway.store.people import Account


#: what to do about turns that got no answer
_REMEDIES = {
    "model_credentials": "the model does not accept its key: put a valid one into .env",
    "model_unavailable": "the model could not be reached: check model.base_url and its server",
    "model_rate_limited": "the provider limits requests: wait, or choose another model",
}


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; ``text`` says what to do unless it is fine."""

    level: Level
    topic: str
    text: str


def surroundings(home: Home) -> Iterator[Finding]:
    """Look at the environment and the home's files."""
    clash = package_clash()
    yield _judge("python", clash, "no other package is in the way")
    yield from _permissions(home)
    process = ProcessLock(home.lock).holder()
    text = f"running (process {process})" if process else "not running"
    yield Finding(Level.OK, "gateway", text)


def _permissions(home: Home) -> Iterator[Finding]:
    for path in (home.env, home.database, home.secret):
        if not path.exists():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        problem = f"{path} can be read by others: chmod 600 {path}" if mode & 0o077 else None
        yield _judge("files", problem, f"{path.name} is private")


def configuration(loaded: Loaded, rules: Rules, problems: list[str]) -> Iterator[Finding]:
    """Look at the settings; ``problems`` keep a platform from starting."""
    for line in problems:
        yield Finding(Level.ERROR, "platform", line)
    for line in loaded.warnings:
        yield Finding(Level.WARNING, "settings", line)
    for line in loaded.unused:
        yield Finding(Level.OK, "settings", newcomer.not_used(line))


def newcomers(
    home: Home, rules: Rules, *, stand_in: str, manifests: Iterable[Manifest]
) -> Iterator[Finding]:
    """Look at what Hermes Agent left in the home."""
    for line in newcomer.folders(home):
        yield Finding(Level.OK, "hermes", line)
    for line in newcomer.paired(home):
        yield Finding(Level.OK, "hermes", line)
    if line := newcomer.conversations(home, rules, stand_in=stand_in, manifests=manifests):
        yield Finding(Level.OK, "hermes", line)


def database(path: Path, rules: Rules) -> Iterator[Finding]:
    """Look at the database of a home that has one; nothing is changed."""
    try:
        with readonly.look(path) as conn:
            yield from _contents(conn, rules)
    except StoreError as error:
        remedy = f"{error}; stop the gateway and put a backup of {path.name} in its place"
        yield Finding(Level.ERROR, "database", remedy)


def _contents(conn: Connection, rules: Rules) -> Iterator[Finding]:
    at = readonly.revision(conn)
    if at != migrate.HEAD:
        text = f"revision {at}, this version needs {migrate.HEAD}: hermes-gateway db upgrade"
        yield Finding(Level.ERROR, "database", text)
        return
    damage = readonly.damage(conn)
    yield _judge("database", f"damaged: {damage}" if damage else None, "sound")
    yield _audit(conn)
    for adapter in health.adapters(conn):
        yield _connection(adapter)
    yield from _memory(conn)
    yield from _waiting(readonly.attention(conn))
    for code, number in readonly.failures(conn).items():
        remedy = _REMEDIES.get(code, "the log names the reason")
        yield Finding(
            Level.WARNING, "model", f"{counted(number, 'turn')} got no answer ({code}): {remedy}"
        )
    yield from _people(readonly.accounts(conn), rules)
    yield from _overruled_links(conn, rules)
    yield from _unforgotten(conn)


def _audit(conn: Connection) -> Finding:
    """Follow the whole chain; what the running gateway saw counts too."""
    verdict = audit.check(conn)
    problem = verdict.problem or watchman.state(conn)["problem"]
    if problem:
        text = f"{problem}: hermes-gateway audit verify"
        return Finding(Level.ERROR, "audit", f"the audit is not to be trusted: {text}")
    return Finding(Level.OK, "audit", f"whole, {counted(verdict.rows, 'row')}")


def _people(accounts: list[Account], rules: Rules) -> Iterator[Finding]:
    ids = [
        RuntimeId(PlatformName(one.platform), UserId(one.user_id), ScopeId(one.scope) or None)
        for one in accounts
    ]
    for line in identity_check.generated_name_clashes(rules.identity, ids):
        yield Finding(Level.WARNING, "identity", line)
    if len(ids) > 1:
        _, warnings = identity_check.check(rules.identity, shared=True)
        for line in warnings:
            yield Finding(Level.WARNING, "identity", line)


def _unforgotten(conn: Connection) -> Iterator[Finding]:
    if number := len(erasing.unfinished(conn)):
        text = f"waiting for the memory service: {counted(number, 'erasure')}; the gateway goes on"
        yield Finding(Level.WARNING, "privacy", text)


def _overruled_links(conn: Connection, rules: Rules) -> Iterator[Finding]:
    def rules_of(platform: PlatformName) -> IdentityRules:
        return rules.identity_for(platform, bare_team=None, stand_in="")

    for one in links.listed(conn):
        account, anchor = written(one.account), written(one.anchor) or one.anchor.platform
        linked = linked_peers([one], rules_of, names.owner(conn, names.PEER))
        identity = identity_of(conn, one.account, rules_of)
        if identity.peer != linked[account]:
            text = f"{account} was linked with {anchor} by its person, {identity.source} says"
            yield Finding(Level.WARNING, "identity", f'{text} "{identity.peer}": that holds')


def _connection(adapter: dict[str, str]) -> Finding:
    name = f"{adapter['platform']} {adapter['account']}"
    remedies = {
        "conflict": "another program receives this bot's messages: stop it, or use another bot",
        "bad_credentials": "the token is not accepted: put a valid one into .env and start again",
    }
    remedy = remedies.get(adapter["state"])
    text = f"{name}: {adapter['state']} {adapter['detail']}".rstrip()
    return _judge("platform", f"{text}; {remedy}" if remedy else None, text)


def _memory(conn: Connection) -> Iterator[Finding]:
    service = health.memory_service(conn)
    remedies = {
        "memory_credentials": "the memory service does not accept the key, or asks for one: check "
        "apiKey in honcho.json; nothing is lost meanwhile",
        "memory_address": "baseUrl in honcho.json is no usable address",
        "memory_answer": "baseUrl in honcho.json leads to something that is no Honcho",
    }
    code = service.get("code", "")
    trouble = f"the memory service is in trouble ({code}); what was said waits for it"
    yield _judge("memory", remedies.get(code, trouble) if code else None, "nothing is wrong")
    if parked := ledger.counts(conn).get(ledger.LedgerState.PARKED, 0):
        text = f"{counted(parked, 'message')} set aside: hermes-gateway memory queue"
        yield Finding(Level.WARNING, "memory", text)


def _waiting(attention: dict[str, int]) -> Iterator[Finding]:
    texts = {
        "unknown": ("part", "of answers may or may not have arrived: /trace shows them"),
        "aside": ("update", "could not be read, kept in the table set_aside"),
        "dead": ("mailbox item", "given up"),
    }
    for name, (noun, text) in texts.items():
        if attention[name]:
            yield Finding(Level.WARNING, "waiting", f"{counted(attention[name], noun)} {text}")
    yield Finding(Level.OK, "access", f"{counted(attention['admins'], 'admin')} by pairing")


def _judge(topic: str, problem: str | None, fine: str) -> Finding:
    if problem is None:
        return Finding(Level.OK, topic, fine)
    return Finding(Level.WARNING, topic, problem)
