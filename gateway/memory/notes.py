"""The model's ``memory`` tool on MEMORY.md and USER.md, and the person's yes before a write.

In a place that others hear it is write-only: no answer holds a word of what the files say.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gateway.memory import screen
from gateway.memory.entries import Action, Change, ChangeError, Target, apply, made, usage
from gateway.model.errors import ToolError
from gateway.ports import AgentTool
from gateway.store import approvals
from gateway.text.clean import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gateway.memory.entries import Entries
    from gateway.memory.files import FileRules, MemoryFiles
    from gateway.model.ids import PeerId
    from gateway.ports import Asker, Clock, TurnRequest
    from gateway.store.approvals import Staged
    from gateway.store.engine import Store, Tx

    #: called in the transaction that stages a write: ask its person; False: they cannot be asked
    Ask = Callable[[Tx, TurnRequest, Staged], bool]

NAME = "memory"
_DESCRIPTION = (
    "Keep what will matter in later sessions; it is shown to you at the start of each. Save "
    "unasked, at once: to `user` who the person is (name, family, work, preferences, how they "
    "want to be spoken to), to `memory` your own notes (facts of their projects and "
    "surroundings, decisions, lessons). One short fact an entry; no tasks, no passing moods, "
    "nothing secret. `replace` and `remove` find their entry by a part of it in `old_text`. "
    "When a file is full, merge or remove entries, then try again."
)
_DONE = {
    Action.ADD: "Entry added.",
    Action.REPLACE: "Entry replaced.",
    Action.REMOVE: "Entry removed.",
}

_ASKED = "Not written yet: the person was asked for a yes; you need not ask again."
_UNASKED = "Not written yet: it waits for a yes. Tell them to send me /memory in a direct message."


class NotesTool:
    """Builds the tool."""

    def __init__(self, files: MemoryFiles, store: Store, clock: Clock, ask: Ask) -> None:
        self._files = files
        self._store = store
        self._clock = clock
        self._ask = ask

    def build(self) -> AgentTool:
        """Return the tool; it is invisible where nobody is known or both files are off."""
        schema = {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": [str(action) for action in Action]},
                "target": {"type": "string", "enum": [str(target) for target in Target]},
                "content": {"type": "string"},
                "old_text": {"type": "string"},
            },
            "required": ["action", "target"],
            "additionalProperties": False,
        }
        return AgentTool(NAME, _DESCRIPTION, schema, self._call, self._visible, idempotent=False)

    def _visible(self, request: TurnRequest) -> bool:
        return request.asker is not None and bool(self._files.rules.enabled)

    async def _call(self, request: TurnRequest, arguments: Mapping[str, Any]) -> str:
        if request.asker is None:
            raise ToolError("nobody is known here, so there is nothing to write into")
        asker, change = request.asker, read_change(arguments)
        if problem := fault(self._files.rules, change):
            return _json(success=False, error=problem)
        try:
            if self._files.rules.approval:
                return await self._stage(request, asker, change)
            entries, changed = await self._files.change(asker.peer, change)
        except ChangeError as error:
            return refusal(error, limited=asker.audience.limited)
        return self._told(asker, change, entries, changed=changed)

    async def _stage(self, request: TurnRequest, asker: Asker, change: Change) -> str:
        """Let a write wait; what could not be made anyway is refused at once."""
        entries = await self._files.read(asker.peer, change.target)
        if apply(entries, change, self._files.rules.limits[change.target]) == entries:
            return self._told(asker, change, entries, changed=False)
        write = approvals.Write(
            asker.peer, change.target, change.action, change.content.strip(), change.old_text
        )

        def stage(tx: Tx) -> tuple[str, bool]:
            id_, new = approvals.stage(tx, write, now=self._clock.now())
            staged = approvals.Staged(id_, write, self._clock.now())
            return id_, not new or self._ask(tx, request, staged)

        id_, asked = await self._store.write(stage)
        return _json(success=True, waiting=id_, message=_ASKED if asked else _UNASKED)

    def _told(self, asker: Asker, change: Change, entries: Entries, *, changed: bool) -> str:
        if asker.audience.limited:
            return _json(success=True, target=change.target, message="Done.")
        same = "Entry already exists (no duplicate added)."
        return _json(
            success=True,
            target=change.target,
            message=_DONE[change.action] if changed else same,
            entries=list(entries),
            usage=usage(entries, self._files.rules.limits[change.target]),
        )


def read_change(arguments: Mapping[str, Any]) -> Change:
    """Return what a call asks for. Raises ``ToolError`` naming what is valid."""
    action, target = (arguments.get(key) for key in ("action", "target"))
    if action not in set(Action):
        raise ToolError(f"action must be one of {', '.join(Action)}")
    if target not in set(Target):
        raise ToolError(f"target must be one of {', '.join(Target)}")
    content, old_text = (clean(str(arguments.get(key) or "")) for key in ("content", "old_text"))
    return Change(Action(action), Target(target), content, old_text)


def fault(rules: FileRules, change: Change) -> str:
    """Say why a change is not made whatever the file holds, "" where it may be."""
    file = change.target.file
    if change.target not in rules.enabled:
        return f"{file} is switched off by the operator."
    if change.target in rules.closed:
        return f"{file} is not written to: {rules.closed[change.target]}."
    if change.action is not Action.ADD and not change.old_text.strip():
        return "old_text cannot be empty: give a part of the entry."
    if change.action is Action.REMOVE:
        return ""
    if change.action is Action.REPLACE and not change.content.strip():
        return "Content cannot be empty. Use remove to delete an entry."
    return screen.fault(change.content)


def refusal(error: ChangeError, *, limited: bool) -> str:
    """Return a change that was not made as the model is told it."""
    if limited:
        return _json(success=False, error=error.hidden)
    return _json(success=False, error=str(error), **{error.key: error.entries})


def _json(**values: object) -> str:
    return json.dumps(values, ensure_ascii=False)


class Approvals:
    """Deciding on writes that wait: the person's own in a chat, anybody's for an operator."""

    def __init__(self, files: MemoryFiles, store: Store, clock: Clock) -> None:
        self._files = files
        self._store = store
        self._clock = clock

    async def waiting(self, peer: PeerId | None = None) -> list[Staged]:
        """Return what waits, oldest first."""
        return await self._store.read(lambda conn: approvals.of(conn, peer))

    async def approve(self, id_: str, peer: PeerId | None = None) -> Staged | None:
        """Write what waits under ``id_``; None where nothing does.

        A write that a crash kept from being noted as made is not made again. Raises ``ToolError``
        when it cannot be written any more; it goes on waiting then.
        """
        staged = await self._store.read(lambda conn: approvals.find(conn, id_, peer))
        if staged is None:
            return None
        change = change_of(staged)
        if problem := fault(self._files.rules, change):
            raise ToolError(problem)
        if not made(await self._files.read(staged.write.peer, change.target), change):
            try:
                await self._files.change(staged.write.peer, change)
            except ChangeError as error:
                raise ToolError(str(error)) from None
        await self._decide(staged.id, approvals.APPROVED)
        return staged

    async def reject(self, id_: str, peer: PeerId | None = None) -> Staged | None:
        """Drop what waits under ``id_``; None where nothing does."""
        staged = await self._store.read(lambda conn: approvals.find(conn, id_, peer))
        if staged is not None:
            await self._decide(staged.id, approvals.REJECTED)
        return staged

    async def outcome(self, id_: str, peer: PeerId) -> str | None:
        """Return what was decided under ``id_``; None where nothing was."""
        return await self._store.read(lambda conn: approvals.decided(conn, id_, peer))

    async def _decide(self, id_: str, state: str) -> None:
        now = self._clock.now()
        await self._store.write(lambda tx: approvals.decide(tx, id_, state, now=now))


def change_of(staged: Staged) -> Change:
    """Return the change that a staged write stands for."""
    write = staged.write
    return read_change(
        {
            "action": write.action,
            "target": write.file,
            "content": write.content,
            "old_text": write.old_text,
        }
    )
