"""``export``: everything of one person, in one archive."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.common import JsonFlag, existing_store, fail, friendly, home, loaded, show
from gateway.text.counted import counted, singular

if TYPE_CHECKING:
    from gateway.settings.read import Loaded
    from gateway.store.engine import Store


def export(
    person: Annotated[
        str, typer.Argument(metavar="PERSON", help="A peer's name or an account: telegram:42.")
    ],
    to: Annotated[
        Path | None,
        typer.Option(help="Where the archive goes; a new file, readable by you alone."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write everything of a person into a zip: messages, turns, notes, files, what memory knows.

    In groups only their own messages and the answers to them.
    """
    with friendly():
        configuration = loaded()
        with existing_store(home()) as store:
            data, counts = asyncio.run(_archive(configuration, store, person.strip()))
        name = "".join(each if each.isalnum() or each in "-_" else "-" for each in person.strip())
        path = to or Path(f"{name}.zip")
        _write(path, data)
        result = {"person": person, "file": str(path), "rows": counts}
        told = ", ".join(
            counted(number, singular(name.replace("_", " ")))
            for name, number in counts.items()
            if number
        )
        show(result, as_json=as_json, human=lambda: typer.echo(f"Wrote {path}: {told}"))


async def _archive(
    configuration: Loaded, store: Store, person: str
) -> tuple[bytes, dict[str, int]]:
    from gateway import app

    desk = app.export_desk(home(), configuration, store)
    async with app.memory_of(configuration, store) as memory:
        return await desk.archive(person, by="command line", memory=memory)


def _write(path: Path, data: bytes) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        fail(f"{path} exists already: choose another file with --to")
    except OSError as error:
        fail(f"{path}: cannot be written ({error.strerror}); choose another place with --to")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
