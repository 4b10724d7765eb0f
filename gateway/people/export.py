"""Everything of one person in one archive: tables as JSON, the talk as text, notes and files."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

from gateway.memory.entries import Target
from gateway.model.errors import MemoryServiceError
from gateway.people.estate import owner_of
from gateway.pipeline import builtin
from gateway.store import audit, messages, testament

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.people.estate import Owner
    from gateway.pipeline.rules import Current
    from gateway.ports import Clock, Memory
    from gateway.settings.home import Home
    from gateway.store.engine import Store

#: conclusions of one pair that are read
CONCLUSIONS = 10_000


class Export:
    """Reads a person out of a home. Changes nothing but the audit."""

    def __init__(self, store: Store, clock: Clock, home: Home, current: Current) -> None:
        self._store = store
        self._clock = clock
        self._home = home
        self._current = current

    async def archive(
        self, who: str, *, by: str, memory: Memory | None
    ) -> tuple[bytes, dict[str, int]]:
        """Return a zip and how many of what it holds; the service being away is told in it.

        Raises ``NobodyError``.
        """
        owner, tables = await self._store.read(lambda conn: self._read(conn, who))
        service = await self._service(owner, memory)
        data = await asyncio.to_thread(self._pack, owner, tables, service)
        counts = {name: len(rows) for name, rows in tables.items()}
        await self._store.write(
            lambda tx: audit.record(
                tx, "person.exported", actor=by, subject=owner.peer, now=self._clock.now()
            )
        )
        return data, counts

    def _read(self, conn: Any, who: str) -> tuple[Owner, dict[str, testament.Rows]]:
        owner = owner_of(conn, who, self._current)
        return owner, testament.read(conn, owner.estate)

    async def _service(self, owner: Owner, memory: Memory | None) -> dict[str, Any]:
        if memory is None:
            return {"problem": "memory is switched off"}
        found: list[dict[str, Any]] = []
        try:
            agents = {*(await memory.agents()).values(), self._current.rules.agent_peer}
            for peer in sorted(owner.estate.peers):
                for observer in sorted({*agents, peer}):
                    card = await memory.card(observer, peer)
                    drawn = await memory.conclusions(observer, peer, limit=CONCLUSIONS)
                    if card or drawn:
                        told = {"observer": observer, "observed": peer, "card": list(card)}
                        found.append({**told, "conclusions": [text for _, text in drawn]})
        except MemoryServiceError as error:
            return {"problem": f"the memory service could not be asked: {error}", "known": found}
        return {"known": found}

    def _pack(
        self, owner: Owner, tables: dict[str, testament.Rows], service: dict[str, Any]
    ) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            whole = {"peer": owner.peer, "peers": sorted(owner.estate.peers)}
            archive.writestr("person.json", _json(whole))
            for name, rows in tables.items():
                archive.writestr(f"{name}.json", _json(rows))
            archive.writestr("memory.json", _json(service))
            archive.writestr("talk.txt", _talk(tables["messages"]))
            for peer in sorted(owner.estate.peers):
                for path in self._notes(peer):
                    archive.write(path, f"notes/{peer}/{path.name}")
            for row in tables["files"]:
                path = self._home.files / row["name"]
                if path.is_file():
                    archive.write(path, f"files/{path.name}")
        return packed.getvalue()

    def _notes(self, peer: str) -> list[Path]:
        own = peer == builtin.file_rules(self._current).owner
        folder = self._home.memories if own else self._home.person(peer)
        paths = (folder / target.file for target in Target)
        return [path for path in paths if path.is_file()]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _talk(rows: testament.Rows) -> str:
    """Return what was said as one can read it, conversation by conversation."""
    lines: list[str] = []
    conversation = ""
    for row in sorted(rows, key=lambda row: (row["conversation"], row["id"])):
        if row["conversation"] != conversation:
            conversation = row["conversation"]
            lines += ["", f"=== {conversation}", ""]
        who = "agent" if row["role"] == messages.ASSISTANT else row["author"] or "you"
        lines.append(f"{row['sent_at'][:19]}  {who}: {row['text']}")
    return "\n".join(lines).strip() + "\n"
