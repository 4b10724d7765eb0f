"""``audit``: who decided what, and whether the record of it is whole."""

from __future__ import annotations

import asyncio
import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import (
    FAILED,
    MISUSED,
    JsonFlag,
    chosen_profile,
    existing_store,
    fail,
    friendly,
    home,
    show,
)
from gateway.text.counted import counted

if TYPE_CHECKING:
    from gateway.store.engine import Connection

group = typer.Typer(help="Who let whom in, changed what, looked at what.", no_args_is_help=True)


@group.command("list")
def list_(
    *,
    person: Annotated[
        str | None, typer.Option(help="Rows about or by this account or peer: telegram:42, mira.")
    ] = None,
    action: Annotated[
        str | None, typer.Option(help="Rows of this action, or of all that begin so: pairing.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Not older: 2026-11-29, 2026-11-29T18:00, or 7d, 12h.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Older than this; written alike.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 50,
    as_json: JsonFlag = False,
) -> None:
    """Show what was decided, the newest first. Who was erased cannot be named any more."""
    with friendly():
        wanted = {
            "action": (action or "").strip().removesuffix("."),
            "since": None if since is None else _moment("--since", since),
            "until": None if until is None else _moment("--until", until),
        }
        with existing_store(home()) as store:
            found = asyncio.run(store.read(lambda conn: _listed(conn, person, wanted, limit)))
        show(found, as_json=as_json, human=lambda: _print_list(found))


@group.command()
def verify(
    head: Annotated[
        str | None, typer.Option(help="A hash that was noted down: it must be in the chain.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Follow the chain from its first row to its last, and name the first row at fault."""
    with friendly():
        noted = None if head is None else _hash(head)
        with existing_store(home()) as store:
            found = asyncio.run(store.read(lambda conn: _verified(conn, noted)))
        show(found, as_json=as_json, human=lambda: _print_verdict(found))
        if not found["ok"]:
            raise typer.Exit(FAILED)


def _listed(
    conn: Connection, person: str | None, wanted: dict[str, Any], limit: int
) -> list[dict[str, Any]]:
    from gateway.store import audit

    names = audit.people(conn)
    who = None if person is None else _names(conn, person.strip())
    rows = audit.listed(conn, *audit.matching(conn, who=who, **wanted), limit=limit)
    return [
        {
            **asdict(row),
            "at": row.at.isoformat(),
            "actor": audit.named(row.actor, names),
            "subject": audit.named(row.subject, names),
            "detail": audit.named(dict(row.detail), names),
        }
        for row in rows
    ]


def _names(conn: Connection, person: str) -> list[str]:
    """Return all that a person is called by now: their peers and accounts, and as was typed."""
    from gateway import app
    from gateway.model.errors import ConfigurationError
    from gateway.people.estate import NobodyError, owner_of
    from gateway.pipeline.rules import Current

    try:
        configuration = app.load(home(), profile=chosen_profile())
        current = Current(app.rules_of(configuration), stand_in=app.stand_in(configuration))
        return [person, *owner_of(conn, person, current).estate.names]
    except (ConfigurationError, NobodyError):
        return [person]


def _verified(conn: Connection, noted: str | None) -> dict[str, Any]:
    from gateway.store import audit

    verdict = audit.check(conn)
    problem, anchor = verdict.problem, audit.ends(conn)[0]
    if not problem and noted is not None and not audit.holds(conn, noted):
        problem = "the noted hash is not in the chain: it was made anew, or the row was dropped"
    return {
        "ok": not problem,
        "rows": verdict.rows,
        "first": anchor.seq + 1 if verdict.rows else None,
        "last": verdict.last.seq,
        "head": verdict.last.hash,
        "problem": problem,
        "row": verdict.seq or None,
    }


def _hash(text: str) -> str:
    made = text.strip().lower()
    if not re.fullmatch(r"[0-9a-f]{64}", made):
        fail("--head: a hash has 64 digits, 0-9 and a-f; copy it from audit verify", MISUSED)
    return made


def _moment(option: str, text: str) -> datetime:
    number, unit = text.strip()[:-1], text.strip()[-1:]
    try:
        if number.isdecimal() and unit in "dhm":
            length = {"d": "days", "h": "hours", "m": "minutes"}[unit]
            return datetime.now(UTC) - timedelta(**{length: int(number)})
        found = datetime.fromisoformat(text.strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        fail(f"{option} {text}: write a time such as 2026-11-29T18:00 (UTC), or 7d", MISUSED)


def _print_list(found: list[dict[str, Any]]) -> None:
    if not found:
        typer.echo("Nothing was found.")
    for row in found:
        shown = [each for each in row["detail"].items() if each[1] not in ("", None, [])]
        detail = ", ".join(f"{name} {_text(value)}" for name, value in shown)
        subject = f" {_short(row['subject'])}" if row["subject"] else ""
        tail = f" ({detail})" if detail else ""
        head = f"{row['seq']:>5}  {row['at'][:19]}Z"
        typer.echo(f"{head}  {_short(row['actor'])}: {row['action']}{subject}{tail}")


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return _short(str(value))


def _short(name: str) -> str:
    person = name.startswith("person:")
    return f"somebody erased ({name.removeprefix('person:')[:8]})" if person else name


def _print_verdict(found: dict[str, Any]) -> None:
    if not found["ok"]:
        typer.echo(f"The audit is broken: {found['problem']}.")
        whole = counted(found["rows"], "row")
        typer.echo(f"Whole before it: {whole}, up to row {found['last']}.")
        return
    typer.echo(
        f"The audit is whole: {counted(found['rows'], 'row')}, the last is {found['last']}."
    )
    typer.echo(f"Its hash, to be noted down elsewhere: {found['head']}")
