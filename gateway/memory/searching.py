"""The model's ``session_search`` tool: discover, read, scroll and browse what was said. No LLM.

A person finds their own conversations; in a place that others hear, that place only.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from gateway.model.errors import ToolError
from gateway.model.ids import SessionId
from gateway.ports import AgentTool
from gateway.store import messages, places, search, turns
from gateway.store.places import PlaceKey
from gateway.text import terms
from gateway.text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gateway.ports import Asker, TurnRequest
    from gateway.store.engine import Connection, Store
    from gateway.store.search import Line, Scope

    Json = dict[str, Any]

NAME = "session_search"
_DESCRIPTION = (
    "Search earlier conversations, word by word. `query`: the best hits with neighbours "
    '("a phrase", begin*, one OR other). `session_id`: read that session\'s end; with `around` '
    "(an id of a hit) the lines beside it. Nothing: the latest sessions."
)
_HITS, _SESSIONS, _READ, _BESIDE = 5, 10, 20, 8
_SNIPPET, _NEIGHBOUR, _LINE = 300, 120, 800


class SearchTool:
    """Builds the tool."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def build(self) -> AgentTool:
        """Return the tool; it is invisible where nobody is known."""
        schema = {
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "session_id": {"type": "string"},
                "around": {"type": "integer"},
            },
            "additionalProperties": False,
        }
        return AgentTool(NAME, _DESCRIPTION, schema, self._call, _visible)

    async def _call(self, request: TurnRequest, arguments: Mapping[str, Any]) -> str:
        if request.asker is None:
            raise ToolError("nobody is known here, so there is nothing to search")
        asker, look = request.asker, _mode(arguments)

        def run(conn: Connection) -> Json:
            return look(conn, scope_of(conn, request, asker))

        return json.dumps(await self._store.read(run), ensure_ascii=False)


def _visible(request: TurnRequest) -> bool:
    return request.asker is not None


def scope_of(conn: Connection, request: TurnRequest, asker: Asker) -> Scope:
    """Return what the asker of a turn may find."""
    if not asker.audience.limited:
        return search.Scope(peer=asker.peer)
    turn = turns.load(conn, request.turn)
    if turn is None:
        raise ToolError("this turn is not known: nothing can be searched from here")
    where = turn.address
    return place_scope(conn, PlaceKey(where.platform, where.account, where.place))


def place_scope(conn: Connection, key: PlaceKey) -> Scope:
    """Return a place by all the ids that it has had."""
    return search.Scope(place=(key.platform, key.account, places.ids(conn, key)))


def _mode(arguments: Mapping[str, Any]) -> Callable[[Connection, Scope], Json]:
    query = str(arguments.get("query") or "").strip()
    session = SessionId(str(arguments.get("session_id") or "").strip())
    around = arguments.get("around")
    if query:
        return lambda conn, scope: discover(conn, scope, query)
    if session and around is not None:
        return lambda conn, scope: _scroll(conn, scope, session, int(around))
    if session:
        return lambda conn, scope: _read(conn, scope, session)
    return _browse


def hits(conn: Connection, scope: Scope, text: str, *, limit: int) -> list[Line]:
    """Return the best hits: of all the words, or of any where no message has all of them."""
    query = terms.parse(text)
    found = search.find(conn, query, scope, limit=limit)
    return found or search.find(conn, terms.any_of(query), scope, limit=limit)


def discover(conn: Connection, scope: Scope, text: str) -> Json:
    """Return the best hits with the lines beside them."""
    found = hits(conn, scope, text, limit=_HITS)
    if not found:
        return {"results": [], "message": "Nothing was found. Try other or fewer words."}
    return {"results": [_hit(conn, scope, line, text) for line in found]}


def _hit(conn: Connection, scope: Scope, line: Line, text: str) -> Json:
    before = search.read(conn, scope, line.session, before=line.id, limit=1)
    after = search.read(conn, scope, line.session, after=line.id, limit=1)
    beside = {"before": before, "after": after}
    return {
        "session_id": line.session,
        **({"title": line.title} if line.title else {}),
        "id": line.id,
        "time": _time(line),
        "who": _who(line),
        "snippet": snippet(line.text, text, _SNIPPET),
        **{name: _short(lines[0]) for name, lines in beside.items() if lines},
    }


def _read(conn: Connection, scope: Scope, session: SessionId) -> Json:
    found = search.read(conn, scope, session, limit=_READ)
    if not found:
        raise _unknown(session)
    return _lines(session, found)


def _scroll(conn: Connection, scope: Scope, session: SessionId, around: int) -> Json:
    middle = search.line(conn, scope, around)
    if middle is None or middle.session != session:
        raise _unknown(session)
    before = search.read(conn, scope, session, before=around, limit=_BESIDE)
    after = search.read(conn, scope, session, after=around, limit=_BESIDE)
    return _lines(session, [*before, middle, *after])


def _browse(conn: Connection, scope: Scope) -> Json:
    found = search.browse(conn, scope, limit=_SESSIONS)
    return {
        "sessions": [
            {
                "session_id": one.session,
                **({"title": one.title} if one.title else {}),
                "from": _time(one.first),
                "to": f"{one.last_at:%Y-%m-%d %H:%M}",
                "lines": one.lines,
                "begins": one_line(one.first.text, _NEIGHBOUR),
            }
            for one in found
        ]
    }


def _lines(session: SessionId, found: Iterable[Line]) -> Json:
    return {
        "session_id": session,
        "lines": [
            {
                "id": line.id,
                "time": _time(line),
                "who": _who(line),
                "text": snippet(line.text, "", _LINE),
            }
            for line in found
        ],
    }


def _unknown(session: SessionId) -> ToolError:
    asked = one_line(session, 100)
    return ToolError(f"no such session or line: {asked}; call without arguments for a list")


def snippet(text: str, query: str, limit: int) -> str:
    """Return the part of ``text`` in which the query's first word stands."""
    if len(text) <= limit:
        return text
    middle = _position(text, query)
    start = max(0, min(middle - limit // 3, len(text) - limit))
    shown = text[start : start + limit].strip()
    return f"{'…' if start else ''}{shown}{'…' if start + limit < len(text) else ''}"


def _position(text: str, query: str) -> int:
    """Return where a word of the query begins, as far as plain letters tell."""
    asked = [word for group in terms.parse(query) for term in group for word in term.words]
    if not asked:
        return 0
    found = re.search("|".join(map(re.escape, asked)), text.casefold())
    return found.start() if found else 0


def _short(line: Line) -> str:
    return f"{_who(line)}: {one_line(line.text, _NEIGHBOUR)}"


def _who(line: Line) -> str:
    if line.role == messages.ASSISTANT:
        return "you"
    return one_line(line.author, 80) or "person"


def _time(line: Line) -> str:
    return f"{line.sent_at:%Y-%m-%d %H:%M}"
