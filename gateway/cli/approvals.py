"""``memory approvals``: writes to the memory files that wait for a yes; the operator decides."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import JsonFlag, existing_store, fail, friendly, home, loaded, show

if TYPE_CHECKING:
    from gateway.memory.notes import Approvals
    from gateway.store.approvals import Staged
    from gateway.store.engine import Store

Id = Annotated[str, typer.Argument(metavar="ID", help="As memory approvals lists it.")]


def approvals(as_json: JsonFlag = False) -> None:
    """List what the agent wants to write down and has no yes for yet (write_approval)."""
    with friendly():
        with existing_store(home()) as store:
            found = [_told(one) for one in asyncio.run(_desk(store).waiting())]
        show(found, as_json=as_json, human=lambda: _print(found))


def approve(id_: Id, as_json: JsonFlag = False) -> None:
    """Write down what waits under an id."""
    _decide(id_, as_json=as_json, yes=True)


def reject(id_: Id, as_json: JsonFlag = False) -> None:
    """Drop what waits under an id."""
    _decide(id_, as_json=as_json, yes=False)


def _decide(id_: str, *, as_json: bool, yes: bool) -> None:
    with friendly():
        with existing_store(home()) as store:
            desk = _desk(store)
            done = asyncio.run(desk.approve(id_) if yes else desk.reject(id_))
        if done is None:
            fail(f"nothing waits under {id_}; see: hermes-gateway memory approvals")
        result = {"id": done.id, "state": "approved" if yes else "rejected"}
        show(result, as_json=as_json, human=lambda: typer.echo(f"{done.id} {result['state']}"))


def _desk(store: Store) -> Approvals:
    from gateway import app
    from gateway.memory.files import MemoryFiles
    from gateway.memory.notes import Approvals
    from gateway.ops.clock import SystemClock
    from gateway.pipeline.builtin import file_rules
    from gateway.pipeline.rules import Current

    configuration = loaded()
    current = Current(app.rules_of(configuration), stand_in=app.stand_in(configuration))
    files = MemoryFiles(home(), lambda: file_rules(current))
    return Approvals(files, store, SystemClock())


def _told(one: Staged) -> dict[str, Any]:
    write = one.write
    return {
        "id": one.id,
        "person": write.peer,
        "file": write.file,
        "action": write.action,
        "content": write.content,
        "old_text": write.old_text,
        "asked_at": one.asked_at.isoformat(),
    }


def _print(found: list[dict[str, Any]]) -> None:
    if not found:
        typer.echo("Nothing waits for a yes.")
    for one in found:
        said = " → ".join(filter(None, (one["old_text"], one["content"])))
        typer.echo(f"{one['id']}  {one['person']}  {one['action']} in {one['file']}: {said}")
