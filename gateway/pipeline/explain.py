"""Explaining: a turn's way as data and as text, and why somebody is who they are."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from gateway.model.errors import GatewayError
from gateway.pipeline.addresses import written
from gateway.store import files, inbox, ledger, outbox, recall, turns
from gateway.text import catalog

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from gateway.model.ids import TurnId
    from gateway.policy.identity import Identity
    from gateway.store.engine import Connection
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
    lines = [catalog.text("trace.head", language, turn=found["turn"], state=state)]
    identity = found["identity"]
    lines.append(
        catalog.text("trace.peer", language, peer=identity["peer"], rung=identity["rung"])
    )
    for point in found["checkpoints"]:
        at = datetime.fromisoformat(point["at"]).astimezone(zone)
        status = " ".join(filter(None, (point["status"], point["detail"])))
        lines.append(
            catalog.text(
                "trace.step", language, time=f"{at:%H:%M:%S}", step=point["step"], status=status
            )
        )
    head, *rest = lines
    return "\n".join([head, "", *(f"- {line}" for line in rest)])


def whoami(identity: Identity, account: Account, language: str, *, admin: bool) -> str:
    """Return who the gateway takes somebody for, and why."""
    lines = [catalog.text("whoami.peer", language, peer=identity.peer)]
    if account.user_id:
        told = {"platform": account.platform, "user": account.user_id}
        lines.insert(0, catalog.text("whoami.account", language, **told))
    lines.append(catalog.text(f"whoami.{identity.rung.value}", language))
    if admin:
        lines.append(catalog.text("whoami.admin", language))
    return "\n".join(lines)
