"""Who asks, and whether they may: the dependencies of every route."""

from __future__ import annotations

import hmac
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from gateway.model.errors import GatewayError
from gateway.policy.hosts import is_loopback
from gateway.web.doors import Visitor
from gateway.web.guard import name_of
from gateway.web.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from fastapi import Response
    from fastapi.dependencies.models import Dependant

    from gateway.ports import Clock

#: wrong keys of one client in so many seconds, after which it waits
WRONG, WITHIN = 10, 60.0
PROOF_FIELD, PROOF_HEADER = "proof", "X-Proof"
_SAFE = frozenset({"GET", "HEAD"})


class NotSignedInError(GatewayError):
    """Nobody is signed in here."""

    code = "not_signed_in"


class NotAllowedError(GatewayError):
    """This needs the operator's role, or the form was not one of ours."""

    code = "not_allowed"


class TooManyTriesError(GatewayError):
    """Too many wrong keys came from here."""

    code = "too_many_tries"


@dataclass(slots=True)
class Attempts:
    """Counts the wrong keys of each client."""

    clock: Clock
    _wrong: dict[str, deque[float]] = field(default_factory=dict)

    def check(self, client: str) -> None:
        """Raise ``TooManyTriesError`` while a client has to wait."""
        now = self.clock.monotonic()
        times = self._wrong.get(client, deque())
        while times and now - times[0] >= WITHIN:
            times.popleft()
        if not times:
            self._wrong.pop(client, None)
        if len(times) >= WRONG:
            wait = WITHIN - (now - times[0])
            raise TooManyTriesError("too many wrong keys", retry_after=wait)

    def wrong(self, client: str) -> None:
        """Count a wrong key."""
        now = self.clock.monotonic()
        self._wrong.setdefault(client, deque(maxlen=WRONG)).append(now)


def parts_of(request: Request) -> Parts:
    """Return what the page stands on."""
    parts: Parts = request.app.state.parts
    return parts


def attempts_of(request: Request) -> Attempts:
    """Return the count of wrong keys."""
    attempts: Attempts = request.app.state.attempts
    return attempts


def client_of(request: Request) -> str:
    """Return the address that a request comes from."""
    return request.client.host if request.client is not None else ""


def is_private(request: Request) -> bool:
    """Tell whether nobody can read along: it came by TLS, or within this machine."""
    forwarded = request.headers.get("x-forwarded-proto", "")
    return by_tls(request) or (not forwarded and is_loopback(name_of(request.headers["host"])))


def by_tls(request: Request) -> bool:
    """Tell whether the browser speaks TLS, with us or with a proxy in front of us."""
    forwarded = request.headers.get("x-forwarded-proto", "")
    return "https" in (request.url.scheme, forwarded.partition(",")[0].strip().lower())


def from_here(request: Request) -> bool:
    """Tell whether a request comes from this machine itself, not through a proxy on it."""
    forwarded = "x-forwarded-for" in request.headers or "forwarded" in request.headers
    return not forwarded and is_loopback(client_of(request))


_bearer = HTTPBearer(auto_error=False, description="A token of `hermes-gateway web token`.")


async def known_visitor(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> Visitor:
    """Return who is signed in. Raises ``NotSignedInError``, ``NotAllowedError``."""
    visitor = await _visitor(request, bearer)
    if request.method not in _SAFE:
        await _check_proof(request, visitor)
    return visitor


async def _visitor(request: Request, bearer: HTTPAuthorizationCredentials | None) -> Visitor:
    """Return who is signed in; nothing but headers is read, once for each request."""
    known: Visitor | None = getattr(request.state, "visitor", None)
    if known is not None:
        return known
    doors = parts_of(request).doors
    if bearer is not None:
        visitor = await doors.by_token(bearer.credentials)
        if visitor is None:
            # one program's wrong token must not keep another on the same machine out
            attempts, client = attempts_of(request), client_of(request)
            attempts.check(client)
            attempts.wrong(client)
    else:
        visitor = await doors.by_cookie(request.cookies.get(doors.cookie, ""))
    if visitor is None:
        raise NotSignedInError("sign in with: hermes-gateway web link")
    request.state.visitor = visitor
    return visitor


async def _check_proof(request: Request, visitor: Visitor) -> None:
    """A browser sends its cookie whoever asks it to; only our own pages know the proof."""
    if not visitor.proof:
        return
    given = request.headers.get(PROOF_HEADER, "")
    if not given and "form" in request.headers.get("content-type", ""):
        given = str((await request.form()).get(PROOF_FIELD, ""))
    if not hmac.compare_digest(given.encode(), visitor.proof.encode()):
        raise NotAllowedError("this form is not of this session; open the page again")


async def _operator(visitor: Annotated[Visitor, Depends(known_visitor)]) -> Visitor:
    _must_act(visitor)
    return visitor


def _must_act(visitor: Visitor) -> None:
    if not visitor.acts:
        raise NotAllowedError("this needs the operator's role: hermes-gateway web link")


class JudgedFirst(APIRoute):
    """A route that judges who asks before it reads what was sent.

    FastAPI reads a body before it solves any dependency, and would tell somebody without rights
    what is wrong with it.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See ``APIRoute``."""
        handle, acts = super().get_route_handler(), _asks_for(self.dependant, _operator)
        signed_in = acts or _asks_for(self.dependant, known_visitor)

        async def judged(request: Request) -> Response:
            if signed_in and request.method not in _SAFE:
                visitor = await _visitor(request, await _bearer(request))
                if acts:
                    _must_act(visitor)
            return await handle(request)

        return judged


def _asks_for(dependant: Dependant, call: object) -> bool:
    """Tell whether a route depends on ``call``, however deep."""
    return any(one.call is call or _asks_for(one, call) for one in dependant.dependencies)


TheParts = Annotated[Parts, Depends(parts_of)]
#: whoever is signed in
AnyVisitor = Annotated[Visitor, Depends(known_visitor)]
#: who may act
Operator = Annotated[Visitor, Depends(_operator)]
