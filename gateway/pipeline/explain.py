"""Explaining: a turn's way as data and as text, and why somebody is who they are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from gateway.model.errors import GatewayError
from gateway.model.ids import TurnId
from gateway.pipeline.addresses import written
from gateway.policy.identity import Rung
from gateway.store import (
    files,
    identity_changes,
    inbox,
    ledger,
    links,
    messages,
    outbox,
    recall,
    turns,
)
from gateway.text import catalog

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from gateway.policy.identity import Identity
    from gateway.store.engine import Connection
    from gateway.store.identity_changes import Record
    from gateway.store.links import Link
    from gateway.store.people import Account


def describe(identity: Identity) -> dict[str, object]:
    """Return an identity as ``whois --json`` prints it and the turn keeps it."""
    return {
        "peer": identity.peer,
        "rung": identity.rung.value,
        "source": identity.source,
        "steps": [
            {"rung": step.rung.value, "matched": step.matched, "detail": step.detail}
            for step in identity.steps
        ],
    }


class UnknownTurnError(GatewayError):
    """There is no such turn."""

    code = "unknown_turn"


def newest(conn: Connection) -> TurnId:
    """Return the newest turn of all. Raises ``UnknownTurnError``."""
    found = turns.recent(conn, limit=1)
    if not found:
        raise UnknownTurnError("nobody has said anything yet")
    return TurnId(found[0].id)


def trace(conn: Connection, turn_id: TurnId) -> dict[str, Any]:
    """Return a turn's whole way without any text of its messages.

    Raises ``UnknownTurnError``.
    """
    turn = turns.load(conn, turn_id)
    if turn is None:
        raise UnknownTurnError(f"there is no turn {turn_id}; /trace in a chat shows its last one")
    return {
        "turn": turn.id,
        "state": turn.state.value,
        "attempts": turn.attempt,
        "conversation": turn.conversation,
        "session": turn.session,
        "account": written(turn.account),
        "identity": dict(turn.identity),
        "usage": turns.usage(conn, turn_id),
        "recall": (recall.frozen(conn, turn_id) or {}).get("layers", []),
        "messages": [
            {
                "message": row.event.message,
                "sent_at": row.event.sent_at.isoformat(),
                "received_at": row.received_at.isoformat(),
            }
            for row in inbox.of_turn(conn, turn_id)
        ],
        "files": [
            {
                "kind": file.kind.value,
                "name": file.label,
                "mime": file.mime,
                "size": file.size,
                "state": file.state.value,
                "problem": "" if file.problem is None else file.problem.value,
            }
            for file in files.of_turn(conn, turn_id)
        ],
        "checkpoints": [
            {
                "step": row.step,
                "status": row.status,
                "attempt": row.attempt,
                "detail": row.detail,
                "at": row.at.isoformat(),
            }
            for row in turns.checkpoints(conn, turn_id)
        ],
        "parts": [
            {
                "part": row.id,
                "state": row.state,
                "attempts": row.attempts,
                "message": row.sent_message,
                "error": row.error,
                "degraded": row.degraded,
            }
            for row in outbox.of_turn(conn, turn_id)
        ],
        "memory": ledger.of_turn(conn, turn_id),
    }


def trace_text(found: dict[str, Any], language: str, zone: ZoneInfo) -> str:
    """Return a trace as a short text for a chat."""
    state = catalog.text(f"turn.{found['state']}", language)
    identity = found["identity"]
    lines = [
        catalog.text("trace.peer", language, peer=identity["peer"], rung=identity["rung"]),
        *(_step(point, language, zone) for point in found["checkpoints"]),
        *(_part(number, part, language) for number, part in enumerate(found["parts"], 1)),
        *(_kept(row, language) for row in found["memory"]),
    ]
    head = catalog.text("trace.head", language, turn=found["turn"], state=state)
    return "\n".join([head, "", *(f"- {line}" for line in lines)])


def _step(point: dict[str, Any], language: str, zone: ZoneInfo) -> str:
    at = datetime.fromisoformat(point["at"]).astimezone(zone)
    status = " ".join(filter(None, (point["status"], point["detail"])))
    told = {"time": f"{at:%H:%M:%S}", "step": point["step"], "status": status}
    line = catalog.text("trace.step", language, **told)
    return line + _again(point["attempt"], language)


def _part(number: int, part: dict[str, Any], language: str) -> str:
    state = catalog.text(f"part.{part['state']}", language)
    line = catalog.text("trace.part", language, number=number, state=state)
    return line + _again(part["attempts"], language)


def _kept(row: dict[str, Any], language: str) -> str:
    whose = "trace.answer" if row["role"] == messages.ASSISTANT else "trace.words"
    state = catalog.text(f"kept.{row['state']}", language)
    return catalog.text(whose, language, state=state)


def _again(attempt: int, language: str) -> str:
    return "" if attempt < 2 else f" {catalog.text('trace.attempt', language, number=attempt)}"


@dataclass(frozen=True, slots=True)
class Background:
    """Since when an account has been who it is, and what says so."""

    since: datetime | None = None
    link: Link | None = None
    #: the change of the settings by which the record came to be
    change: Record | None = None


def background(conn: Connection, account: Account, identity: Identity) -> Background:
    """Look up how an account came to be who it is; ``source`` is the record that names it."""
    linked = links.of(conn, account) if identity.source.startswith("link ") else None
    since = turns.filed_since(conn, account, identity.peer)
    return Background(since, linked, _change(conn, identity.source))


def _change(conn: Connection, source: str) -> Record | None:
    for record in identity_changes.listed(conn, limit=1000):
        for edit in record.edits:
            key = f'{edit.path[0]}["{edit.path[-1]}"]' if len(edit.path) > 1 else edit.path[0]
            if key == source:
                return record
    return None


def told_background(found: Background) -> dict[str, Any]:
    """Return a background as ``whois --json`` prints it."""
    link, change = found.link, found.change
    return {
        "since": found.since.isoformat() if found.since else None,
        "link": link
        and {
            "with": written(link.anchor) or link.anchor.platform,
            "since": link.since.isoformat(),
        },
        "changed": change
        and {"at": change.at.isoformat(), "by": change.actor, "change": change.id},
    }


def whoami(
    identity: Identity,
    account: Account,
    language: str,
    *,
    admin: bool,
    found: Background,
    zone: ZoneInfo,
) -> str:
    """Return who the gateway takes somebody for, why, since when, and what was tried."""
    lines = [catalog.text("whoami.peer", language, peer=identity.peer)]
    if account.user_id:
        told = {"platform": account.platform, "user": account.user_id}
        lines.insert(0, catalog.text("whoami.account", language, **told))
    lines.append(_why(identity, found, language, zone))
    if found.since is not None:
        lines.append(catalog.text("whoami.since", language, date=_date(found.since, zone)))
    tried = ", ".join(f"{one.rung.value} {'✓' if one.matched else '–'}" for one in identity.steps)
    lines.append(catalog.text("whoami.tried", language, rules=tried))
    if admin:
        lines.append(catalog.text("whoami.admin", language))
    return "\n".join(lines)


def _why(identity: Identity, found: Background, language: str, zone: ZoneInfo) -> str:
    if found.link is not None:
        anchor = written(found.link.anchor) or found.link.anchor.platform
        told = {"account": anchor, "date": _date(found.link.since, zone)}
        return catalog.text("whoami.link", language, **told)
    why = catalog.text(f"whoami.{identity.rung.value}", language)
    if identity.rung is not Rung.ALIAS:
        return why
    return f"{why} {catalog.text('whoami.record', language, source=identity.source)}"


def _date(at: datetime, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d}"
