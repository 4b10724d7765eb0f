"""Taking Hermes Agent's conversations over into search: each message once, as its speaker's.

Reading is by sessions, writing in small transactions beside whatever runs. A run that was broken
off goes on where it was, and another run adds only what was said since.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from gateway.model.ids import ScopeId
from gateway.pipeline.explain import describe
from gateway.policy import hermes
from gateway.policy.identity import Rung, resolve
from gateway.store import facts, imports, messages, names, people
from gateway.store.facts import BARE_TEAM
from gateway.store.people import Account
from gateway.text.clean import blank, clean, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from gateway.pipeline.rules import Rules
    from gateway.policy.hermes import HermesMessage, HermesSession, Speaker
    from gateway.policy.identity import Identity
    from gateway.ports import Clock, Manifest
    from gateway.store.engine import Connection, Store, Tx
    from gateway.store.hermes import HermesDatabase

SOURCE = "hermes"
#: messages that are stored in one transaction
BATCH = 200
#: epoch numbers above this are milliseconds
_MILLIS = 1e11
_TITLE = 80


@dataclass(slots=True)
class Report:
    """What became of a run, or would."""

    sessions: int = 0
    messages: int = 0
    #: messages that had been looked at by an earlier run
    before: int = 0
    #: messages by the peer whose conversations they are in
    people: Counter[str] = field(default_factory=Counter)
    #: (sessions, messages) that are not taken, by reason
    left_out: dict[str, tuple[int, int]] = field(default_factory=dict)

    def leave(self, reason: str, count: int) -> None:
        """Count a session that is not taken."""
        sessions, total = self.left_out.get(reason, (0, 0))
        self.left_out[reason] = (sessions + 1, total + count)

    def plain(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        return {
            "sessions": self.sessions,
            "messages": self.messages,
            "already_known": self.before,
            "people": dict(self.people.most_common()),
            "left_out": {
                reason: {"sessions": sessions, "messages": count}
                for reason, (sessions, count) in sorted(self.left_out.items())
            },
        }


class HermesImport:
    """One run over one database."""

    def __init__(
        self,
        database: HermesDatabase,
        rules: Rules,
        clock: Clock,
        *,
        stand_in: str,
        manifests: Iterable[Manifest],
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        """``progress`` is told after each session how many messages have been looked at."""
        self._database = database
        self._rules = rules
        self._clock = clock
        self._stand_in = stand_in
        self._service: dict[str, frozenset[str]] = {
            each.name: each.service_accounts for each in manifests
        }
        self._progress = progress

    async def run(self, store: Store) -> Report:
        """Take over what is new. Raises ``StoreError``."""
        report, looked_at = Report(), 0
        done = await store.read(lambda conn: imports.progress(conn, SOURCE))
        team = await store.read(_bare_team)
        for session, said in self._sessions(done, report):
            looked_at += len(said)
            who = self._speaker(session, team)
            if isinstance(who, hermes.LeftOut):
                report.leave(who.reason, len(said))
            else:
                await self._take(store, session, who, said, report)
            self._progress(looked_at)
        return report

    def plan(self, conn: Connection | None) -> Report:
        """Return what ``run`` would do; ``conn`` None: there is no database of ours yet."""
        report = Report()
        done = {} if conn is None else imports.progress(conn, SOURCE)
        team = None if conn is None else _bare_team(conn)
        for session, said in self._sessions(done, report):
            who = self._speaker(session, team)
            if isinstance(who, hermes.LeftOut):
                report.leave(who.reason, len(said))
                continue
            identity = self._identify(conn, who)
            if not _somebody(identity):
                report.leave("nobody", len(said))
            else:
                _count(report, identity, sum(bool(_words(each)) for each in said))
        return report

    # --- reading ---------------------------------------------------------------------------

    def _sessions(
        self, done: Mapping[str, int], report: Report
    ) -> Iterator[tuple[HermesSession, list[HermesMessage]]]:
        """Yield each session with what was not looked at before, where there is anything."""
        for session in self._database.sessions():
            every = self._database.messages(session.id)
            upto = done.get(session.id, -1)
            said = self._own(session, every) if upto < 0 else every
            new = [each for each in said if each.id > upto]
            report.before += len(every) - sum(each.id > upto for each in every)
            if new:
                yield session, new

    def _own(self, session: HermesSession, every: list[HermesMessage]) -> list[HermesMessage]:
        if session.parent is None or session.parent_end != "compression":
            return every
        return hermes.fresh(every, self._database.messages(session.parent), continued=True)

    # --- whose -----------------------------------------------------------------------------

    def _speaker(self, session: HermesSession, team: ScopeId | None) -> Speaker | hermes.LeftOut:
        return hermes.speaker(session, bare_team=team, service_accounts=self._service)

    def _identify(self, conn: Connection | None, who: Speaker) -> Identity:
        rules = self._rules.identity_for(
            who.platform,
            bare_team=None if conn is None else _bare_team(conn),
            stand_in=self._stand_in,
        )
        owner = (lambda _name: None) if conn is None else names.owner(conn, names.PEER)
        key = who.conversation(self._rules.profile)
        return resolve(who.sender, who.platform, key, rules, owner=owner)

    # --- writing ---------------------------------------------------------------------------

    async def _take(
        self,
        store: Store,
        session: HermesSession,
        who: Speaker,
        said: list[HermesMessage],
        report: Report,
    ) -> None:
        identity = await store.read(lambda conn: self._identify(conn, who))
        if not _somebody(identity):
            report.leave("nobody", len(said))
            return
        remaining, stored = iter(said), 0
        while batch := list(islice(remaining, BATCH)):
            part = tuple(batch)
            stored += await store.write(partial(self._store, session, who, part))
        _count(report, identity, stored)

    def _store(
        self, session: HermesSession, who: Speaker, batch: tuple[HermesMessage, ...], tx: Tx
    ) -> int:
        identity = self._identify(tx.conn, who)
        names.take(tx, names.PEER, identity.peer, identity.original)
        account = Account(who.platform, who.sender.scope or "", who.sender.id or "")
        author = people.name_of(tx.conn, account) or identity.peer
        new = imports.Imported(
            source=SOURCE,
            id=session.id,
            title=one_line(session.title or "", _TITLE),
            peer=identity.peer,
            rung=identity.rung,
            identity=describe(identity),
            account=account,
            place=who.place.id,
            began_at=_moment(session.started_at, batch[0].at),
            ended_at=_moment(session.ended_at, batch[-1].at),
        )
        said = _said(session, batch, author)
        return imports.store(tx, new, said, upto=batch[-1].id, now=self._clock.now())


def _words(message: HermesMessage) -> str:
    """Return what was said as the store keeps it."""
    text = clean(hermes.words(message))
    return "" if blank(text) else text


def _said(
    session: HermesSession, batch: tuple[HermesMessage, ...], author: str
) -> list[messages.Said]:
    found = []
    for each in batch:
        if text := _words(each):
            role, name = messages.ASSISTANT, ""
            if each.role == hermes.USER:
                role, name = messages.USER, author
            at = _moment(each.at, session.started_at)
            found.append(messages.Said(each.id, role, name, text, at))
    return found


def _bare_team(conn: Connection) -> ScopeId | None:
    team = facts.get(conn, BARE_TEAM)
    return None if team is None else ScopeId(team)


def _somebody(identity: Identity) -> bool:
    """A peer made from nothing but the conversation is nobody that could ever ask for it."""
    return identity.rung not in (Rung.UNATTRIBUTED, Rung.SESSION)


def _count(report: Report, identity: Identity, count: int) -> None:
    if count:
        report.sessions += 1
        report.messages += count
        report.people[identity.peer] += count


def _moment(*times: float | None) -> datetime:
    """Return the first usable time of seconds or milliseconds since the epoch."""
    for at in times:
        try:
            if at:
                return datetime.fromtimestamp(at / 1000 if at > _MILLIS else at, UTC)
        except (OverflowError, OSError, ValueError):
            continue
    return datetime.fromtimestamp(0, UTC)
