"""``people rehome`` and ``memory replay``: memory follows people, or moves to another service."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.changing import ReasonOption, YesFlag, author, plain, rehoming_service
from gateway.cli.common import MISUSED, JsonFlag, fail, friendly, home, loaded, show
from gateway.text.counted import counted

if TYPE_CHECKING:
    from gateway.people import Following, Rehoming
    from gateway.store.rehome_jobs import Job

#: seconds between looks at a job that runs
LOOK = 0.5

PeopleArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="PERSON", help="Only what concerns these; left out: everybody."),
]
WaitFlag = Annotated[bool, typer.Option("--wait/--no-wait", help="Show the progress to its end.")]


def rehome(
    people: PeopleArgument = None,
    *,
    groups: Annotated[
        bool,
        typer.Option("--rebuild-groups", help="Shared sessions too, of all who speak there."),
    ] = False,
    purge: Annotated[
        bool, typer.Option("--purge", help="Take away what memory has followed from.")
    ] = False,
    preview: Annotated[bool, typer.Option("--preview", help="Only show what it takes.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Only show the jobs so far.")] = False,
    reason: ReasonOption = "",
    yes: YesFlag = False,
    wait: WaitFlag = True,
    as_json: JsonFlag = False,
) -> None:
    """Let memory follow who is who now: counts first, at most 4 requests a second, resumable.

    What was there before stays until --purge, so that an undo switches back at once.
    """
    with friendly(), rehoming_service() as service:
        if status:
            jobs = asyncio.run(service.jobs())
            show([plain(one) for one in jobs], as_json=as_json, human=lambda: _print_jobs(jobs))
            return
        seen = asyncio.run(service.preview(people, groups=groups))
        if preview:
            show(plain(seen), as_json=as_json, human=lambda: _print_following(seen))
            return
        if not as_json:
            _print_following(seen)
        if not (seen.kept if purge else seen.estimate.sessions):
            show(plain(seen), as_json=as_json, human=lambda: typer.echo("There is nothing to do."))
            return
        _ask("Take away what stays?" if purge else "Begin?", sure=yes or as_json)
        who = author(reason)
        make = service.purge(who, people) if purge else service.start(who, people, groups=groups)
        _finish(service, asyncio.run(make), wait=wait, as_json=as_json)


def replay(
    person: Annotated[
        str | None, typer.Argument(metavar="[PERSON]", help="Left out: everything.")
    ] = None,
    *,
    reason: ReasonOption = "",
    yes: YesFlag = False,
    wait: WaitFlag = True,
    as_json: JsonFlag = False,
) -> None:
    """Carry what was said into the memory service that is configured now, each message once.

    For a move, such as from the embedded service to Honcho: set it up first, then give this.
    """
    from gateway.settings.read import needs_service_problem

    with friendly(), rehoming_service() as service:
        if problem := needs_service_problem(loaded()):
            fail(problem, MISUSED)
        _ask("Carry everything over?" if person is None else f"Carry {person} over?", sure=yes)
        job = asyncio.run(service.replay(author(reason), person))
        _finish(service, job, wait=wait, as_json=as_json)


def _ask(question: str, *, sure: bool) -> None:
    if not sure and sys.stdin.isatty():
        typer.confirm(question, abort=True)


def _finish(service: Rehoming, job: Job, *, wait: bool, as_json: bool) -> None:
    """Follow a job to its end where a gateway works on it, and tell how it stands."""
    from gateway.store.lock import ProcessLock

    running = ProcessLock(home().lock).holder() is not None
    told = ""
    while running and wait and job.state != "done":
        line = _line(job)
        if line != told and not as_json:
            typer.echo(line, err=True)
        told = line
        time.sleep(LOOK)
        job = asyncio.run(service.job(job.id))
        running = ProcessLock(home().lock).holder() is not None
    result = {**plain(job), "running": running}
    show(result, as_json=as_json, human=lambda: _print_job(job, running=running))


def _print_job(job: Job, *, running: bool) -> None:
    typer.echo(_line(job))
    for line in job.notes:
        typer.echo(f"  {line}")
    if job.state != "done":
        where = "It goes on in the running gateway" if running else "It waits for the next run"
        typer.echo(f"{where}; see: hermes-gateway people rehome --status")


def _line(job: Job) -> str:
    said = f"{job.sessions_done} of {counted(job.sessions_total, 'session')}"
    if job.messages_total:
        said += f", {job.messages_done} of {counted(job.messages_total, 'message')}"
    trouble = f", waits ({job.error})" if job.error else ""
    asked = counted(job.requests, "request")
    return f"job {job.id} {job.kind}: {job.state}, {said}, {asked}{trouble}"


def _print_jobs(jobs: list[Job]) -> None:
    if not jobs:
        typer.echo("There was no job yet.")
    for job in jobs:
        typer.echo(f"{_line(job)}, by {job.actor} {job.created_at:%Y-%m-%d %H:%M} UTC")
        for line in job.notes:
            typer.echo(f"  {line}")


def _print_following(seen: Following) -> None:
    for before, after in seen.moves:
        typer.echo(f"moves   {before} → {after}")
    needed: Any = seen.estimate
    typer.echo(
        f"memory  {counted(needed.messages, 'message')} in {counted(needed.sessions, 'session')}, "
        f"about {counted(needed.calls, 'request')}, {needed.seconds:.0f} s or more"
    )
    if seen.groups and not seen.derived_anew:
        typer.echo(f"stays   {counted(seen.groups, 'shared session')}, unless --rebuild-groups")
    if seen.derived_anew:
        typer.echo(f"anew    conclusions about {', '.join(seen.derived_anew)}")
    if seen.kept:
        typer.echo(f"kept    {counted(seen.kept, 'session')} under former peers, until --purge")
