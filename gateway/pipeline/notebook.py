"""What people do with the built-in memory in a chat: ``/memory``, ``/search``, and the yes.

These commands read files and search, so they run before the transaction that answers them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.memory.entries import Target, usage
from gateway.memory.notes import Approvals
from gateway.memory.searching import hits, place_scope, snippet
from gateway.model.errors import ToolError
from gateway.model.events import PlaceKind
from gateway.pipeline import choices
from gateway.pipeline.addresses import place_of
from gateway.pipeline.choices import NO, YES
from gateway.policy.audience import audience
from gateway.policy.identity import Rung
from gateway.store import messages, turns
from gateway.store.questions import Question
from gateway.store.search import Scope
from gateway.text import catalog
from gateway.text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from zoneinfo import ZoneInfo

    from gateway.memory.files import MemoryFiles
    from gateway.model.ids import PeerId
    from gateway.pipeline.choices import Press, Work
    from gateway.pipeline.opening import Opening
    from gateway.pipeline.post import Post
    from gateway.pipeline.rules import Current
    from gateway.ports import Clock, TurnRequest
    from gateway.store.approvals import Staged
    from gateway.store.engine import Connection, Store, Tx
    from gateway.store.inbox import InboxRow
    from gateway.store.search import Line

#: the kind of question that asks for a yes to a write
APPROVAL = "memory"

#: characters of a found line as a chat shows it
_FOUND = 200
_HITS = 5


@dataclass(frozen=True, slots=True)
class Caller:
    """Who gave a command, and whether others read the answer."""

    row: InboxRow
    args: str
    language: str
    #: None where the account stands for nobody
    peer: PeerId | None
    limited: bool

    def text(self, key: str, **values: object) -> str:
        """Return a text of the catalogue in the caller's language."""
        return catalog.text(key, self.language, **values)


class Notebook:
    """Answers the commands of the built-in memory."""

    #: the commands that are answered here
    names = ("memory", "search")

    def __init__(
        self,
        clock: Clock,
        current: Current,
        *,
        store: Store,
        opening: Opening,
        files: MemoryFiles,
    ) -> None:
        self._current = current
        self._store = store
        self._opening = opening
        self._files = files
        self._approvals = Approvals(files, store, clock)

    async def answer(self, row: InboxRow) -> str | None:
        """Return the answer to a command as Markdown; None: it is another's."""
        command = row.event.command
        if command is None or command.name not in self.names:
            return None
        caller = await self._caller(row, command.args.strip())
        if command.name == "search":
            return await self._search(caller)
        if caller.peer is None:
            return caller.text("memory.nobody")
        return await self._memory(caller, caller.peer)

    async def _caller(self, row: InboxRow, args: str) -> Caller:
        event, rules = row.event, self._current.rules
        who = await self._store.write(
            lambda tx: self._opening.identify(tx, event, row.conversation)
        )
        where = audience(
            personal=event.place.kind is PlaceKind.DIRECT,
            strict=rules.conversations.audience == "strict",
        )
        known = who.rung != Rung.UNATTRIBUTED
        language = rules.language_for(event.sender)
        return Caller(row, args, language, who.peer if known else None, where.limited)

    # --- /memory -------------------------------------------------------------------------

    async def _memory(self, caller: Caller, peer: PeerId) -> str:
        word, _, id_ = caller.args.partition(" ")
        match word.lower():
            case "":
                return await self._show(caller, peer)
            case "approve" | "reject" if id_.strip():
                return await self._decide(caller, peer, word.lower(), id_)
        return caller.text("memory.usage")

    async def _show(self, caller: Caller, peer: PeerId) -> str:
        if caller.limited:
            return caller.text("memory.private")
        sections = [await self._file(caller, peer, target) for target in Target]
        waiting = [
            f"- {proposal(one, caller.language)} {by_words(one, caller.language)}"
            for one in await self._approvals.waiting(peer)
        ]
        if waiting:
            sections.append("\n".join([caller.text("memory.waiting"), "", *waiting]))
        return "\n\n".join(filter(None, sections)) or caller.text("memory.empty")

    async def _file(self, caller: Caller, peer: PeerId, target: Target) -> str:
        rules = self._files.rules
        if target not in rules.enabled:
            return ""
        try:
            entries = await self._files.read(peer, target)
        except ToolError as error:
            return caller.text("memory.failed", reason=error)
        if not entries:
            return ""
        head = caller.text(f"memory.{target}", usage=usage(entries, rules.limits[target]))
        lines = [f"- {caller.text('memory.entry', content=_flat(one))}" for one in entries]
        return "\n".join([head, "", *lines])

    async def pressed(self, press: Press) -> Work | None:
        """Answer a button under a write that waits; handler of ``Choices``."""
        word = {YES: "approve", NO: "reject"}.get(press.value)
        if word is None:
            return None
        caller = await self._caller(press.row, "")
        caller, id_ = replace(caller, language=press.question.language), press.question.subject
        told = caller.text("memory.nobody")
        if caller.peer is not None:
            told = await self._decide(caller, caller.peer, word, id_)
        return lambda _tx: told

    async def _decide(self, caller: Caller, peer: PeerId, word: str, id_: str) -> str:
        try:
            if word == "approve":
                done = await self._approvals.approve(id_, peer)
            else:
                done = await self._approvals.reject(id_, peer)
        except ToolError as error:
            return caller.text("memory.failed", reason=error)
        if done is not None:
            return caller.text("memory.approved" if word == "approve" else "memory.rejected")
        state = await self._approvals.outcome(id_, peer)
        if state is None:
            return caller.text("memory.unknown", id=one_line(id_, 20))
        return caller.text(f"memory.{state}")

    # --- /search -------------------------------------------------------------------------

    async def _search(self, caller: Caller) -> str:
        if not caller.args:
            return caller.text("search.usage")
        found = await self._store.read(lambda conn: _find(conn, caller))
        if not found:
            return caller.text("search.nothing", words=one_line(caller.args, 80))
        zone = self._current.rules.reset.zone
        return "\n".join(f"- {_line(caller, line, zone)}" for line in found)


def _find(conn: Connection, caller: Caller) -> list[Line]:
    if caller.limited or caller.peer is None:
        scope = place_scope(conn, place_of(caller.row.event))
    else:
        scope = Scope(peer=caller.peer)
    return hits(conn, scope, caller.args, limit=_HITS)


def _line(caller: Caller, line: Line, zone: ZoneInfo) -> str:
    answered = line.role == messages.ASSISTANT
    who = caller.text("search.me") if answered else one_line(line.author, 40)
    return caller.text(
        "search.hit",
        time=line.sent_at.astimezone(zone).strftime("%Y-%m-%d"),
        who=who or caller.text("search.somebody"),
        text=one_line(snippet(line.text, caller.args, _FOUND), _FOUND + 2),
    )


def _flat(text: str) -> str:
    """Return an entry whole, on one line: who says yes must have read all of it."""
    return " ".join(text.split())


def proposal(staged: Staged, language: str) -> str:
    """Return a write that waits as Markdown."""
    write = staged.write
    return catalog.text(
        f"memory.{write.action}",
        language,
        file=Target(write.file).file,
        content=_flat(write.content),
        old=_flat(write.old_text),
    )


def by_words(staged: Staged, language: str) -> str:
    """Return how to decide on a write that waits by words, as Markdown."""
    return catalog.text("memory.decide", language, id=staged.id)


def asking(post: Post, clock: Clock) -> Callable[[Tx, TurnRequest, Staged], bool]:
    """Return what asks a person for their yes, in the direct message with them.

    Nothing is said in a group. It returns False where no direct message is known.
    """

    def ask(tx: Tx, request: TurnRequest, staged: Staged) -> bool:
        turn = turns.load(tx.conn, request.turn)
        address = None if turn is None else turns.direct_address(tx.conn, turn)
        if turn is None or address is None:
            return False
        language = turn.language
        words = f"{catalog.text('memory.ask', language)}\n\n{proposal(staged, language)}"
        choices.ask(
            tx,
            post,
            Question(APPROVAL, staged.id, turn.account, language, words),
            address,
            options=choices.yes_or_no(language),
            instead=by_words(staged, language),
            key=f"memory:{staged.id}",
            now=clock.now(),
        )
        return True

    return ask
