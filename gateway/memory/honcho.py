"""A Honcho workspace as the gateway's memory: the only module that knows Honcho's library.

Every call names its endpoint, never tries again by itself and never writes metadata that it has
not just read: ``peer()`` and ``session()`` with ``metadata={}`` would wipe what is there.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import httpx
from honcho import (
    Honcho,
    HonchoError,
    MessageCreateParams,
    Peer,
    Session,
)
from honcho.api_types import SessionPeerConfig
from honcho.http import AsyncHonchoHTTPClient

from gateway.memory import clients, errors
from gateway.memory.breaker import Breaker, BreakerState
from gateway.model.errors import (
    MemoryGoneError,
    MemoryRejectedError,
    MemoryServiceError,
    MemoryUnsupportedError,
)
from gateway.model.ids import LedgerKey, PeerId, SessionId
from gateway.model.memory import BaseContext, Excerpt, Observation
from gateway.text.clean import clean
from gateway.text.marks import break_up

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from gateway.memory.clients import Endpoint
    from gateway.model.memory import ContextQuery, DialecticQuestion, MemoryMessage
    from gateway.ports import Clock

#: key of our own id in a message's metadata
KEY = "gw_id"
#: key of the map agent → peer in the workspace's metadata
AGENTS = "agentPeerMap"
#: writes of that map until it is left to whoever keeps undoing them
REGISTRATIONS = 4
#: seconds for a read
READ_TIMEOUT = 5.0
#: bounds of a context: without them the service sends up to 100,000 tokens
TOKENS, CONCLUSIONS, REPRESENTATION = 2000, 25, 8000
#: most characters of a dialectic question, and most things in one page or list of keys
QUESTION, PAGE = 10_000, 100

#: paths in a server's OpenAPI document
_CONTEXT = "/v3/workspaces/{workspace_id}/sessions/{session_id}/context"
_CHAT = "/v3/workspaces/{workspace_id}/peers/{peer_id}/chat"
#: the library's constructor wants a key, and takes one from the environment otherwise
_NO_KEY = "none"
#: what the library may raise: its own, what it leaves raw, and what it makes of an answer that is
#: not Honcho's (pydantic's errors are ``ValueError``)
_FOREIGN = (HonchoError, httpx.HTTPError, httpx.InvalidURL)
_STRANGE = (ValueError, TypeError, KeyError, AttributeError)


def translate(error: Exception, *, keyed: bool = True) -> MemoryServiceError:
    """Return what an error of the library means; ``keyed``: a key was sent."""
    if not isinstance(error, HonchoError):
        return errors.from_cause(error)
    if error.status:
        wait = getattr(error, "retry_after", None)
        return errors.from_status(error.status, wait, keyed=keyed)
    return errors.from_cause(error.__cause__)


class HonchoMemory:
    """See ``gateway.ports.Memory``. Belongs to one event loop."""

    def __init__(
        self,
        where: Callable[[], Endpoint],
        clock: Clock,
        *,
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """``where`` raises ``MemoryServiceError`` until it knows, and then says the same for ever.

        Nothing is connected before the first call. ``before`` is awaited before each request.
        """
        self._where = where
        self._before = before
        self._breaker = Breaker(clock)
        self._clients: _Clients | None = None
        self._can_limit: bool | None = None

    def paced(self, before: Callable[[], Awaitable[None]], clock: Clock) -> HonchoMemory:
        """Return another client of the same service, for work in the background."""
        return HonchoMemory(self._where, clock, before=before)

    @property
    def state(self) -> BreakerState:
        """Whether the service is left alone at the moment."""
        return self._breaker.state

    async def aclose(self) -> None:
        """See ``gateway.ports.Memory``."""
        if self._clients is not None:
            await self._clients.pool.aclose()

    # --- writing -------------------------------------------------------------------------

    async def open_session(
        self, session: SessionId, peers: Mapping[PeerId, Observation]
    ) -> Mapping[PeerId, Observation]:
        """See ``gateway.ports.Memory``."""
        wanted = [
            (
                str(peer),
                SessionPeerConfig(observe_me=o.observe_me, observe_others=o.observe_others),
            )
            for peer, o in peers.items()
        ]
        with self._service() as service:
            opened = await service.writer.aio.session(session, peers=wanted)
            return {peer: await _flags(opened, peer) for peer in peers}

    async def add(self, session: SessionId, messages: Sequence[MemoryMessage]) -> None:
        """See ``gateway.ports.Memory``."""
        with self._service() as service:
            params = [_params(message) for message in messages]
            await Session(session, service.writer).aio.add_messages(params)

    async def stored(self, session: SessionId, keys: Sequence[LedgerKey]) -> frozenset[LedgerKey]:
        """See ``gateway.ports.Memory``."""
        found: set[LedgerKey] = set()
        with self._service() as service:
            for start in range(0, len(keys), PAGE):
                wanted = {KEY: {"in": list(keys[start : start + PAGE])}}
                page = await Session(session, service.reader).aio.messages(
                    filters={"metadata": wanted}, size=PAGE
                )
                found |= {LedgerKey(message.metadata[KEY]) async for message in page}
        return frozenset(found)

    async def delete_session(self, session: SessionId) -> None:
        """See ``gateway.ports.Memory``."""
        with suppress(MemoryGoneError), self._service() as service:
            await Session(session, service.writer).aio.delete()

    async def set_card(self, observer: PeerId, observed: PeerId, facts: Sequence[str]) -> None:
        """See ``gateway.ports.Memory``."""
        with self._service() as service:
            await Peer(observer, service.writer).aio.set_card(list(facts), target=observed)

    async def conclude(
        self, observer: PeerId, observed: PeerId, text: str, session: SessionId | None
    ) -> str:
        """See ``gateway.ports.Memory``."""
        content = {"content": break_up(text), "session_id": session}
        with self._service() as service:
            pair = Peer(observer, service.writer).conclusions_of(observed)
            created = await pair.aio.create([content])
            return str(created[0].id)

    async def forget_conclusion(self, observer: PeerId, observed: PeerId, id_: str) -> None:
        """See ``gateway.ports.Memory``; another pair's conclusion is refused, not deleted."""
        with self._service() as service:
            pair = Peer(observer, service.writer).conclusions_of(observed)
            async for conclusion in await pair.aio.list(size=PAGE):
                if conclusion.id == id_:
                    await pair.aio.delete(id_)
                    return
        raise MemoryRejectedError("there is no such conclusion of these two peers")

    async def register_agent(self, agent: str, peer: PeerId) -> None:
        """See ``gateway.ports.Memory``. The service only replaces metadata as a whole, so what
        was written is read again: another that registered meanwhile may have undone it.
        """
        with self._service() as service:
            for _ in range(REGISTRATIONS):
                metadata = dict(await service.writer.aio.get_metadata())
                known = _agents(metadata)
                if known.get(agent) == peer:
                    return
                metadata[AGENTS] = {**known, agent: peer}
                await service.writer.aio.set_metadata(metadata)

    # --- reading -------------------------------------------------------------------------

    async def context(self, query: ContextQuery) -> BaseContext:
        """See ``gateway.ports.Memory``."""
        if query.only_this_session or query.sessions:
            await self._must_limit()
        sessions = None if query.only_this_session else list(query.sessions) or None
        with suppress(MemoryGoneError), self._service() as service:
            found = await Session(query.session, service.reader).aio.context(
                summary=True,
                tokens=TOKENS,
                peer_target=query.target,
                peer_perspective=query.perspective,
                search_query=break_up(query.search) or None,
                limit_to_session=query.only_this_session,
                sessions=sessions,
                max_conclusions=CONCLUSIONS,
            )
            return BaseContext(
                summary=found.summary.content if found.summary else "",
                representation=(found.peer_representation or "")[:REPRESENTATION],
                card=tuple(found.peer_card or ()),
            )
        return BaseContext()

    async def ask(self, question: DialecticQuestion, *, timeout: float) -> str:
        """See ``gateway.ports.Memory``. The service goes on thinking after a timeout."""
        sessions = list(question.sessions) or None
        if question.only_this_session:
            if question.session is None:
                raise MemoryRejectedError("a question within one session needs the session")
            sessions = [question.session]
        if sessions is not None:
            await self._must_limit()
        # before its first message a session is unknown there, and the person may not be
        for session in dict.fromkeys((question.session, None)):
            with suppress(MemoryGoneError), self._service() as service:
                answer = await Peer(question.asker, service.writer).aio.chat(
                    question.text[:QUESTION],
                    target=question.target,
                    session=session,
                    sessions=sessions,
                    reasoning_level=question.level,
                    timeout=timeout,
                )
                return str(answer or "")
        return ""

    async def card(self, observer: PeerId, observed: PeerId) -> tuple[str, ...]:
        """See ``gateway.ports.Memory``."""
        with suppress(MemoryGoneError), self._service() as service:
            return tuple(await Peer(observer, service.reader).aio.get_card(observed) or ())
        return ()

    async def search(
        self, words: str, *, peer: PeerId | None, session: SessionId | None, limit: int
    ) -> list[Excerpt]:
        """See ``gateway.ports.Memory``."""
        if not words.strip():
            return []
        filters = {"peer_id": peer} if peer is not None else None
        with suppress(MemoryGoneError), self._service() as service:
            place = service.reader.aio
            if session is not None:
                place = Session(session, service.reader).aio
            found = await place.search(break_up(words), filters, limit=min(limit, PAGE))
            return [
                Excerpt(
                    text=message.content,
                    peer=PeerId(message.peer_id),
                    session=SessionId(message.session_id),
                    sent_at=message.created_at,
                )
                for message in found
            ]
        return []

    async def conclusions(
        self, observer: PeerId, observed: PeerId, *, limit: int = 50
    ) -> list[tuple[str, str]]:
        """See ``gateway.ports.Memory``."""
        with suppress(MemoryGoneError), self._service() as service:
            pair = Peer(observer, service.reader).conclusions_of(observed)
            found: list[tuple[str, str]] = []
            async for one in await pair.aio.list(size=min(limit, PAGE)):
                found.append((str(one.id), str(one.content)))
                if len(found) == limit:
                    break
            return found
        return []

    async def agents(self) -> Mapping[str, PeerId]:
        """See ``gateway.ports.Memory``."""
        with self._service() as service:
            return _agents(await service.reader.aio.get_metadata())

    async def pending(self) -> int:
        """See ``gateway.ports.Memory``."""
        with self._service() as service:
            status = await service.reader.aio.queue_status()
            return int(status.pending_work_units + status.in_progress_work_units)

    # --- underneath ----------------------------------------------------------------------

    @contextmanager
    def _service(self) -> Iterator[_Clients]:
        """Ask the breaker, give the clients, and turn what goes wrong into our own errors."""
        endpoint = self._where()
        self._breaker.check()
        try:
            yield self._connected(endpoint)
        except MemoryServiceError as error:
            self._breaker.failed(error)
            raise
        except (*_FOREIGN, *_STRANGE) as error:
            translated = translate(error, keyed=bool(endpoint.key))
            self._breaker.failed(translated)
            raise translated from None
        self._breaker.succeeded()

    def _connected(self, endpoint: Endpoint) -> _Clients:
        if self._clients is None:
            self._clients = _Clients(endpoint, self._before)
        return self._clients

    async def _must_limit(self) -> None:
        """Raise ``MemoryUnsupportedError`` where the server would ignore the limit.

        It would answer from all sessions and say nothing, so its own description is asked once.
        """
        if self._can_limit is None:
            with self._service() as service:
                answer = await service.pool.get("/openapi.json", timeout=READ_TIMEOUT)
                self._can_limit = answer.is_success and _limits(answer.json())
        if not self._can_limit:
            raise MemoryUnsupportedError("this server cannot keep recall within a session")


class _Clients:
    """Two views of one workspace over one pool: patient for writes, quick for reads."""

    def __init__(self, endpoint: Endpoint, before: Callable[[], Awaitable[None]] | None) -> None:
        self.pool = clients.connect(endpoint, before)
        self.writer = self._client(endpoint, endpoint.timeout)
        self.reader = self._client(endpoint, min(READ_TIMEOUT, endpoint.timeout))

    def _client(self, endpoint: Endpoint, timeout: float) -> Honcho:
        client = Honcho(
            base_url=endpoint.base_url,
            api_key=endpoint.key or _NO_KEY,
            workspace_id=endpoint.workspace,
            timeout=timeout,
            max_retries=0,
        )
        # The library offers no way to give its asynchronous side a pool, and its own follows
        # proxies to this very machine and reuses connections that servers are just closing.
        client._async_http = AsyncHonchoHTTPClient(
            base_url=endpoint.base_url,
            api_key=endpoint.key or None,
            timeout=timeout,
            max_retries=0,
            http_client=self.pool,
        )
        return client


def _params(message: MemoryMessage) -> MessageCreateParams:
    return MessageCreateParams(
        peer_id=message.peer,
        content=break_up(clean(message.text)),
        metadata={KEY: message.key},
        created_at=message.sent_at,
    )


def _configuration(flags: Observation) -> SessionPeerConfig:
    return SessionPeerConfig(observe_me=flags.observe_me, observe_others=flags.observe_others)


async def _flags(session: Session, peer: PeerId) -> Observation:
    flags = await session.aio.get_peer_configuration(peer)
    return Observation(flags.observe_me, flags.observe_others)


def _agents(metadata: Mapping[str, Any]) -> dict[str, PeerId]:
    known = metadata.get(AGENTS)
    if not isinstance(known, dict):
        return {}
    return {str(agent): PeerId(str(peer)) for agent, peer in known.items()}


def _limits(description: Any) -> bool:
    """Tell from a server's OpenAPI document whether both kinds of recall can be limited."""
    try:
        context = description["paths"][_CONTEXT]["get"]["parameters"]
        body = description["paths"][_CHAT]["post"]["requestBody"]["content"]["application/json"]
        name = body["schema"]["$ref"].rpartition("/")[2]
        options = description["components"]["schemas"][name]["properties"]
    except (KeyError, TypeError):
        return False
    known = {parameter["name"] for parameter in context}
    return {"limit_to_session", "sessions"} <= known and "filters" in options
