"""The order of the questions, and what is shown before anything is saved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gateway.setup import history
from gateway.setup.asking import yes_or_no
from gateway.setup.mapping import Row, mapping, merged
from gateway.setup.memories import ask_memory
from gateway.setup.models import ask_model
from gateway.setup.naming import ask_name
from gateway.setup.platforms import ask_platforms
from gateway.setup.who import ask_who

if TYPE_CHECKING:
    from gateway.model.ids import PeerId
    from gateway.setup.drafts import Edit
    from gateway.setup.session import Session


def ask_everything(session: Session) -> None:
    """Ask all that a gateway needs."""
    ask_name(session)
    ask_model(session)
    ask_platforms(session)
    ask_memory(session)
    ask_who(session)
    history.ask_follow(session)


def ask_about_memory(session: Session, *, only_honcho: bool) -> None:
    """Ask all that concerns memory."""
    ask_memory(session, only_honcho=only_honcho, thorough=True)
    ask_name(session)
    ask_who(session)
    history.ask_follow(session)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was decided, and whether it was saved."""

    edits: list[Edit]
    rows: list[Row]
    notes: list[str]
    checks: list[str]
    saved: bool = False
    #: name of the local model that is to be fetched now
    install: str = ""
    #: the peers whose memory is to follow now
    follow: list[PeerId] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the outcome for ``--json``; it holds no secret."""
        return {
            "saved": self.saved,
            "files": [
                {"path": str(edit.path), "changes": list(edit.lines)} for edit in self.edits
            ],
            "mapping": [row.as_json() for row in self.rows],
            "checks": self.checks,
            "notes": self.notes,
            "install": self.install,
            "follow": list(self.follow),
            "next": self.steps,
        }


def conclude(session: Session) -> Outcome:
    """Show what would change, ask, and save it. Raises ``GatewayError`` where it cannot be."""
    edits, rows = session.edits(), mapping(session)
    seen = history.foreseen(session)
    notes = [*merged(rows), *(one.text for one in seen.remains), *_new_warnings(session)]
    outcome = Outcome(edits, rows, notes, session.checks, install=session.install)
    if not edits:
        session.asker.say("Nothing changes.")
        return outcome
    for line in review(outcome):
        session.asker.say(line)
    if not yes_or_no(session.asker, "save", "Save this?", default=True):
        session.asker.say("Nothing was saved.")
        return Outcome(edits, rows, notes, session.checks)
    change = history.save(session, edits)
    steps = [*_steps(session), *_undo(change)]
    moving = sorted({peer for one in seen.moves for peer in (one.before, one.after)})
    if seen.rehoming.sessions and not session.follow:
        steps.append("hermes-gateway people rehome lets memory follow, whenever you want.")
    return Outcome(
        edits,
        rows,
        notes,
        session.checks,
        saved=True,
        install=session.install,
        follow=moving if session.follow else [],
        steps=steps,
    )


def review(outcome: Outcome) -> list[str]:
    """Return the lines that are read before saving."""
    lines = ["", "What changes:"]
    for edit in outcome.edits:
        lines.append(f"  {edit.path}")
        lines += [f"    {line}" for line in edit.lines]
    lines += ["", "Who is who after that (account: person in memory):"]
    lines += [f"  {row}" for row in outcome.rows]
    lines += [f"Note: {note}" for note in outcome.notes]
    return [*lines, ""]


def _new_warnings(session: Session) -> list[str]:
    return [line for line in session.now.warnings if line not in session.before.warnings]


def _steps(session: Session) -> list[str]:
    """Return what is to be done now, in words."""
    steps = [
        "hermes-gateway run starts the gateway; one that runs has to be started again to "
        "take a new token, model or memory service."
    ]
    admins = session.now.settings.access.admins
    without = [one.name for one in session.connected if not _has_admin(admins, one.name)]
    if without:
        steps.append(
            f"Write to the bot on {', '.join(name.capitalize() for name in without)}; it answers "
            "with a code. hermes-gateway pairing approve CODE --admin lets you in as admin."
        )
    return steps


def _undo(change: int | None) -> list[str]:
    """Say how to take back who is who; the first keys of all have nothing before them."""
    if change is None:
        return []
    return [f"hermes-gateway aliases undo {change} takes back who is who."]


def _has_admin(admins: frozenset[str], platform: str) -> bool:
    return any(one.startswith(f"{platform}:") for one in admins)
