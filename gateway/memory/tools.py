"""The memory tools of the model: two tiers, one person's data, honest failures.

Fast tools read what is stored; the thinking one asks a model behind the memory service. A call
that fails says so: it never looks like "nothing known".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.memory.block import PER_TOKEN, cut
from gateway.model.errors import MemoryServiceError, ToolError
from gateway.model.memory import ContextQuery, DialecticQuestion
from gateway.policy import reasoning
from gateway.policy.audience import HIDDEN_WHEN_SHARED
from gateway.ports import AgentTool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from gateway.memory.by_hand import ByHand
    from gateway.model.ids import PeerId, SessionId
    from gateway.policy.reasoning import Level
    from gateway.ports import Asker, Memory, TurnRequest

    #: (speaker, text) of a session's latest messages, oldest first
    Recent = Callable[[SessionId], Awaitable[list[tuple[str, str]]]]
    #: the only sessions from which this person may hear of the agent; () for all
    OwnSessions = Callable[[Asker], Awaitable[tuple[SessionId, ...]]]

FAST = "Fast, no model behind it."
SLOW = "Slow: a model thinks about it."
SEARCH_TOKENS, SEARCH_MOST, SEARCH_HITS = 800, 2000, 20
REASONING_TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class ToolRules:
    """The tool keys of the configuration."""

    #: False in recall mode ``context``
    shown: bool
    agent: PeerId
    agent_observes: bool
    #: the model may choose the level of a question
    dynamic: bool
    level: Level
    cap: Level
    #: also under the names that agents from openclaw know
    openclaw_names: bool = False


class MemoryTools:
    """Builds the tools; ``rules`` is asked at each call, so that a reload counts at once."""

    def __init__(
        self,
        memory: Memory,
        rules: Callable[[], ToolRules],
        *,
        recent: Recent,
        own_sessions: OwnSessions,
        by_hand: ByHand | None = None,
    ) -> None:
        """``by_hand`` remembers what was concluded by a tool."""
        self._memory = memory
        self._rules = rules
        self._recent = recent
        self._own_sessions = own_sessions
        self._by_hand = by_hand

    def build(self) -> list[AgentTool]:
        """Return all tools; those a turn may not have are invisible in it."""
        tools = [
            self._tool(
                "honcho_profile",
                f"Read the person's card of facts, or replace it with `card`. {FAST}",
                self._profile,
                peer=_PEER,
                card={"type": "array", "items": {"type": "string"}},
            ),
            self._tool(
                "honcho_search",
                f"Search what the person said before; returns raw excerpts. {FAST}",
                self._search,
                required=("query",),
                query=_TEXT,
                max_tokens={"type": "integer", "maximum": SEARCH_MOST},
            ),
            self._tool(
                "honcho_context",
                f"Session summary, what is known of the person, latest messages. {FAST}",
                self._context,
            ),
            self._tool(
                "honcho_reasoning",
                f"Ask a question about the person. {SLOW}",
                self._reasoning,
                required=("query",),
                query=_TEXT,
                peer=_PEER,
                reasoning_level={"type": "string", "enum": list(reasoning.LEVELS)},
            ),
            self._tool(
                "honcho_conclude",
                f"Keep a `conclusion` about the person, `list` them, or drop `delete_id`. {FAST}",
                self._conclude,
                idempotent=False,
                conclusion=_TEXT,
                delete_id=_TEXT,
                list={"type": "boolean"},
            ),
        ]
        return [*tools, *self._openclaw()]

    def _openclaw(self) -> list[AgentTool]:
        if not self._rules().openclaw_names:
            return []
        return [
            self._tool(
                "honcho_recall",
                f"Quick question about the person. {SLOW}",
                self._floor("minimal"),
                required=("query",),
                query=_TEXT,
            ),
            self._tool(
                "honcho_analyze",
                f"Thorough question about the person. {SLOW}",
                self._floor("medium"),
                required=("query",),
                query=_TEXT,
            ),
            self._tool("honcho_session", f"The same as honcho_context. {FAST}", self._context),
        ]

    def _tool(
        self,
        name: str,
        description: str,
        call: Callable[[TurnRequest, Asker, Mapping[str, Any]], Awaitable[str]],
        *,
        required: tuple[str, ...] = (),
        idempotent: bool = True,
        **properties: Mapping[str, object],
    ) -> AgentTool:
        async def guarded(request: TurnRequest, arguments: Mapping[str, Any]) -> str:
            if request.asker is None:
                raise ToolError("nobody is known here, so there is no memory to look into")
            try:
                return await call(request, request.asker, arguments)
            except MemoryServiceError as error:
                raise ToolError(f"the memory service failed ({error.code}); try later") from error

        schema = {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        }
        return AgentTool(name, description, schema, guarded, self._visible(name), idempotent)

    def _visible(self, name: str) -> Callable[[TurnRequest], bool]:
        def visible(request: TurnRequest) -> bool:
            if request.asker is None or not self._rules().shown:
                return False
            return not (request.asker.audience.limited and name in HIDDEN_WHEN_SHARED)

        return visible

    # --- the tools -----------------------------------------------------------------------

    async def _profile(
        self, _request: TurnRequest, asker: Asker, arguments: Mapping[str, Any]
    ) -> str:
        _only_alone(asker)
        observer, observed = self._pair(asker, arguments.get("peer"))
        card = arguments.get("card")
        if card is not None:
            if observed == self._rules().agent:
                raise ToolError("the agent's own card is set by its operator, not by a tool")
            facts = [str(line) for line in card]
            await self._memory.set_card(observer, observed, facts)
            if self._by_hand is not None:
                await self._by_hand.carded(observer, observed, facts)
            return f"The card now has {len(facts)} facts."
        known = await self._memory.card(observer, observed)
        return "\n".join(known) or "The card is empty."

    async def _search(
        self, _request: TurnRequest, asker: Asker, arguments: Mapping[str, Any]
    ) -> str:
        budget = min(int(arguments.get("max_tokens") or SEARCH_TOKENS), SEARCH_MOST)
        limited = asker.audience.limited
        found = await self._memory.search(
            str(arguments["query"]),
            peer=None if limited else asker.peer,
            session=asker.session if limited else None,
            limit=SEARCH_HITS,
        )
        lines = [f"[{one.sent_at:%Y-%m-%d}] {one.peer}: {one.text}" for one in found]
        return cut("\n".join(lines), budget * PER_TOKEN) or "Nothing was found."

    async def _context(
        self, _request: TurnRequest, asker: Asker, _arguments: Mapping[str, Any]
    ) -> str:
        limited = asker.audience.limited
        known = await self._memory.context(
            ContextQuery(
                session=asker.session,
                target=asker.peer,
                perspective=self._rules().agent if self._rules().agent_observes else None,
                only_this_session=limited,
            )
        )
        recent = await self._recent(asker.session)
        sections = {
            "Summary": known.summary,
            "Known": "" if limited else known.representation,
            "Card": "" if limited else "\n".join(known.card),
            "Latest messages": "\n".join(f"{who}: {text}" for who, text in recent),
        }
        told = [f"{name}:\n{text}" for name, text in sections.items() if text]
        return cut("\n\n".join(told), SEARCH_MOST * PER_TOKEN) or "Nothing is known yet."

    async def _reasoning(
        self, _request: TurnRequest, asker: Asker, arguments: Mapping[str, Any]
    ) -> str:
        rules, query = self._rules(), str(arguments["query"])
        level = reasoning.raised(rules.level, rules.cap, query)
        if rules.dynamic and arguments.get("reasoning_level") in reasoning.LEVELS:
            level = arguments["reasoning_level"]
        elif not rules.dynamic:
            level = rules.level
        return await self._ask(asker, query, level, arguments.get("peer"))

    def _floor(
        self, floor: Level
    ) -> Callable[[TurnRequest, Asker, Mapping[str, Any]], Awaitable[str]]:
        async def ask(_request: TurnRequest, asker: Asker, arguments: Mapping[str, Any]) -> str:
            query = str(arguments["query"])
            return await self._ask(
                asker, query, reasoning.raised(floor, self._rules().cap, query), None
            )

        return ask

    async def _ask(self, asker: Asker, query: str, level: Level, peer: str | None) -> str:
        _only_alone(asker)
        observer, observed = self._pair(asker, peer)
        of_agent = observed == self._rules().agent
        question = DialecticQuestion(
            text=query,
            asker=observer,
            target=None if observer == observed else observed,
            session=asker.session,
            level=level,
            # what the agent said to one person must not reach another
            sessions=await self._own_sessions(asker) if of_agent else (),
        )
        answer = await self._memory.ask(question, timeout=REASONING_TIMEOUT)
        return answer or "Nothing is known about that."

    async def _conclude(
        self, _request: TurnRequest, asker: Asker, arguments: Mapping[str, Any]
    ) -> str:
        observer, observed = self._pair(asker, None)
        if text := str(arguments.get("conclusion") or "").strip():
            id_ = await self._memory.conclude(observer, observed, text, asker.session)
            if self._by_hand is not None:
                told = (observer, observed, asker.session)
                await self._by_hand.concluded(*told, text=text, ref=id_)
            return f"Kept as {id_}."
        _only_alone(asker)
        if id_ := str(arguments.get("delete_id") or "").strip():
            await self._memory.forget_conclusion(observer, observed, id_)
            if self._by_hand is not None:
                await self._by_hand.dropped(id_)
            return f"Dropped {id_}."
        kept = await self._memory.conclusions(observer, observed)
        return "\n".join(f"{id_}: {text}" for id_, text in kept) or "Nothing was concluded yet."

    # --- whom ----------------------------------------------------------------------------

    def _pair(self, asker: Asker, peer: str | None) -> tuple[PeerId, PeerId]:
        """Return (observer, observed): one pair for reading and writing."""
        rules = self._rules()
        if peer in (None, "user", asker.peer):
            return (rules.agent if rules.agent_observes else asker.peer), asker.peer
        if peer in ("ai", rules.agent):
            return rules.agent, rules.agent
        raise ToolError(f'peer must be "user" or "ai", not "{peer}"')


_TEXT: dict[str, object] = {"type": "string"}
_PEER: dict[str, object] = {"type": "string", "description": "user (default) or ai"}


def _only_alone(asker: Asker) -> None:
    if asker.audience.limited:
        raise ToolError("others can hear this: go on in a direct message")
