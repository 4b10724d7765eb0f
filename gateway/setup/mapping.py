"""Which account is which person, now and after saving: by the very rules that turns go by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gateway.ops.whois import Question, ask
from gateway.policy import naming
from gateway.setup.session import account

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.policy.identity import Identity
    from gateway.policy.runtime_id import RuntimeId
    from gateway.ports import Manifest
    from gateway.settings.read import Loaded
    from gateway.setup.session import Bench, Session


@dataclass(frozen=True, slots=True)
class Row:
    """One account. Peers are ids in the memory service."""

    account: str
    name: str
    before: str
    after: str
    #: the rule that names the peer after saving
    rung: str

    @property
    def moves(self) -> bool:
        return self.before != self.after

    def __str__(self) -> str:
        who = f"{self.account} ({self.name})" if self.name else self.account
        if self.moves:
            return f"{who}: now {self.before}, then {self.after}"
        return f"{who}: {self.after}, as before"

    def as_json(self) -> dict[str, Any]:
        """Return the row for ``--json``."""
        return {
            "account": self.account,
            "name": self.name,
            "before": self.before,
            "after": self.after,
            "rung": self.rung,
            "moves": self.moves,
        }


def mapping(session: Session) -> list[Row]:
    """Return everybody of whom the gateway knows: seen, allowed, aliased; and the console."""
    names = {one.account: one.name for one in session.seen}
    found = [_console(session)]
    for manifest in session.platforms:
        for one in _accounts(session, manifest.name):
            before = _ask(session.bench, session.before, manifest, one)
            after = _ask(session.bench, session.now, manifest, one)
            found.append(
                Row(one.qualified, names.get(one, ""), before.peer, after.peer, after.rung.value)
            )
    return found


def merged(rows: list[Row]) -> list[str]:
    """Say which accounts become one person by what changes."""
    told = []
    for peer in dict.fromkeys(row.after for row in rows if row.moves):
        those = [row.account for row in rows if row.after == peer]
        if len(those) > 1:
            told.append(f"{', '.join(those)} are one person: {peer}")
    return told


def _console(session: Session) -> Row:
    before, after = (_console_peer(session.bench, one) for one in (session.before, session.now))
    return Row("console", "", before, after, "peer_name")


def _console_peer(bench: Bench, loaded: Loaded) -> str:
    name = loaded.honcho.peer_name or bench.stand_in(loaded)
    return next(naming.candidates(name)) if name else "nobody yet"


def _accounts(session: Session, platform: str) -> Iterator[RuntimeId]:
    known: dict[RuntimeId, None] = dict.fromkeys(session.accounts_of(platform))
    for loaded in (session.before, session.now):
        access = loaded.settings.access
        listed = [
            *access.allow.get(platform, ()),
            *(one for one in access.admins if one.startswith(f"{platform}:")),
            *(one for one in loaded.honcho.user_peer_aliases if one.startswith(f"{platform}:")),
        ]
        known |= dict.fromkeys(account(platform, one) for one in sorted(listed))
    seen_by_form = {form for one in session.accounts_of(platform) for form in one.forms}
    for one in known:
        if one in session.accounts_of(platform) or one.qualified not in seen_by_form:
            yield one


def _ask(bench: Bench, loaded: Loaded, manifest: Manifest, one: RuntimeId) -> Identity:
    bots = manifest.accounts(loaded.secrets)
    question = Question(manifest, ":".join(filter(None, (one.scope, one.id))))
    if bots:
        question = replace(question, bot=bots[0])
    rules, stand_in = bench.rules_of(loaded), bench.stand_in(loaded)
    return ask(question, rules, bench.home.database, stand_in=stand_in)
