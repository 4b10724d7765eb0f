"""``search``: find what was said, and look after the index that finds it."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import (
    FAILED,
    MISUSED,
    JsonFlag,
    existing_store,
    fail,
    friendly,
    home,
    note,
    show,
)
from gateway.text.counted import counted

if TYPE_CHECKING:
    from gateway.store.engine import Connection, Store
    from gateway.store.search import Line, Report


def search(
    query: Annotated[
        str, typer.Argument(help='Words, a "phrase", begin*, one OR other.', show_default=False)
    ] = "",
    *,
    person: Annotated[str | None, typer.Option(help="Only this peer's own conversations.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many messages.")] = 10,
    check: Annotated[bool, typer.Option("--check", help="Compare index and messages.")] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make the index anew.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Search everything that was said, or look after the index."""
    with friendly():
        if (bool(query.strip()), check, rebuild).count(True) != 1:
            fail("give words to look for, or --check, or --rebuild", MISUSED)
        with existing_store(home()) as store:
            if query.strip():
                found = asyncio.run(store.read(lambda conn: _find(conn, query, person, limit)))
                show(found, as_json=as_json, human=lambda: _print(found))
            else:
                report = asyncio.run(_look_after(store, rebuild=rebuild))
                show(asdict(report), as_json=as_json, human=lambda: _print_report(report))
                if not report.sound:
                    raise typer.Exit(FAILED)


def _find(conn: Connection, query: str, person: str | None, limit: int) -> list[dict[str, Any]]:
    from gateway.memory.searching import hits
    from gateway.model.ids import PeerId
    from gateway.store.search import Scope

    scope = Scope(peer=None if person is None else PeerId(person))
    return [_told(line, query) for line in hits(conn, scope, query, limit=limit)]


def _told(line: Line, query: str) -> dict[str, Any]:
    from gateway.memory.searching import snippet

    return {
        "id": line.id,
        "session": line.session,
        "title": line.title,
        "role": line.role,
        "author": line.author,
        "time": line.sent_at.isoformat(),
        "snippet": snippet(line.text, query, 300),
    }


async def _look_after(store: Store, *, rebuild: bool) -> Report:
    from gateway.pipeline.builtin import index
    from gateway.store import search

    if rebuild:
        await store.write(search.clear)
        await index(store)
    return await store.read(search.check)


def _print(found: list[dict[str, Any]]) -> None:
    from gateway.text.clean import one_line

    if not found:
        note("Nothing was found.")
    for one in found:
        who = one_line(one["author"], 40) or one["role"]
        said = one_line(one["snippet"], 400)
        typer.echo(f"{one['time'][:16].replace('T', ' ')}  {one['session']}  {who}: {said}")


def _print_report(report: Report) -> None:
    typer.echo(f"indexed  {counted(report.indexed, 'message')}")
    typer.echo(f"missing  {report.missing}")
    typer.echo(f"stale    {report.stale}")
    if report.damage:
        typer.echo(f"damaged  {report.damage}")
    if not report.sound:
        note("Mend it with: hermes-gateway search --rebuild")
