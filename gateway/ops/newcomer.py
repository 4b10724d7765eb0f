"""What a home of Hermes Agent holds that is not used here, and what comes nearest to it."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING

from gateway.model.errors import StoreError
from gateway.ops.clock import SystemClock
from gateway.ops.importing import HermesImport
from gateway.settings.hermes_names import FOLDERS, NEAREST
from gateway.store import hermes, migrate, readonly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from gateway.pipeline.rules import Rules
    from gateway.ports import Manifest
    from gateway.settings.home import Home

_PAIRING = ("platforms/pairing", "pairing")


def not_used(line: str) -> str:
    """Return what ``doctor`` says of a key that has no meaning here (``file:3: a.b``)."""
    key = line.rpartition(": ")[2]
    near = NEAREST.get(key) or NEAREST.get(key.partition(".")[0], "")
    return f"{line}: not used by this product" + (f"; nearest: {near}" if near else "")


def folders(home: Home) -> Iterator[str]:
    """Yield one line for each folder of its own that means nothing here."""
    for name, near in FOLDERS.items():
        if (home.path / name).is_dir():
            told = f"; nearest: {near}" if near else ""
            yield f"{name}: not used by this product{told}"


def paired(home: Home) -> Iterator[str]:
    """Yield one line for each platform with people that it had let in."""
    for folder in _PAIRING:
        for path in sorted((home.path / folder).glob("*-approved.json")):
            platform = path.name.removesuffix("-approved.json")
            if ids := _ids(path):
                yield (
                    f"{folder}/{path.name}: Hermes Agent had let {len(ids)} people in; to let "
                    f"them in here: access.allow.{platform}: {', '.join(ids)}"
                )


def _ids(path: Path) -> list[str]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return sorted(map(str, found)) if isinstance(found, dict) else []


def conversations(
    home: Home, rules: Rules, *, stand_in: str, manifests: Iterable[Manifest]
) -> str:
    """Return how much of its conversations could still be taken over, "" for nothing."""
    path = home.hermes_database
    if not path.is_file():
        return ""
    try:
        with ExitStack() as stack:
            database = stack.enter_context(hermes.look(path))
            importer = HermesImport(
                database, rules, SystemClock(), stand_in=stand_in, manifests=manifests
            )
            conn = None
            if home.database.exists():
                conn = stack.enter_context(readonly.look(home.database))
                if readonly.revision(conn) != migrate.HEAD:
                    return ""
            count = importer.plan(conn).messages
    except StoreError as error:
        return f"{error}; its conversations cannot be taken over"
    if not count:
        return ""
    return f"{count:,} messages of Hermes Agent are not in search: hermes-gateway import hermes"
