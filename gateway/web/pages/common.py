"""Rendering: whole pages, their live part alone, and what is said after an act."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from itsdangerous import BadSignature, URLSafeTimedSerializer
from markupsafe import Markup

from gateway import __version__
from gateway.model.errors import GatewayError
from gateway.web.access import by_tls, parts_of
from gateway.web.failures import status_of
from gateway.web.pages.words import WORDS, ago, moment, place, span

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from gateway.web.doors import Visitor

_HERE = Path(__file__).resolve().parent.parent
STATIC = _HERE / "static"
#: seconds for which a word about what was done waits to be shown
_WORD_HOLDS = 60
_WORD = "_word"


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the menu."""

    path: str
    name: str


SECTIONS = (
    Section("/", "Health"),
    Section("/people", "People"),
    Section("/aliases", "Aliases"),
    Section("/pairing", "Pairing"),
    Section("/sessions", "Sessions"),
    Section("/deliveries", "Deliveries"),
    Section("/traces", "Traces"),
    Section("/audit", "Audit"),
    Section("/settings", "Settings"),
)


def _environment() -> jinja2.Environment:
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.globals.update(sections=SECTIONS, version=__version__, asset=_asset, words=WORDS)
    env.filters.update(moment=moment, ago=ago, span=span, place=place)
    return env


def _asset(name: str) -> str:
    """Return the address of a static file, another one for another content."""
    return f"/static/{name}?v={_digest((STATIC / name).read_bytes())}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


_ENV = _environment()


def _values(request: Request, visitor: Visitor | None) -> dict[str, Any]:
    parts = parts_of(request)
    return {
        "path": request.url.path,
        "visitor": visitor,
        "zone": parts.settings.zone,
        "now": parts.clock.now(),
        "profile": parts.current.rules.profile,
        "home": parts.home.path,
    }


def show(
    request: Request,
    visitor: Visitor,
    name: str,
    *,
    live: bool = False,
    status: int = 200,
    **values: Any,
) -> Response:
    """Return the page ``name``; ``live``: its changing part is kept up to date.

    That part is the template ``live/<name>``. It is fetched again and again, and nothing is
    sent while it is the same.
    """
    values |= _values(request, visitor)
    if live:
        values["live"], same = _live(request, name, values)
        if request.headers.get("HX-Target") == "live":
            return Response(status_code=204) if same else HTMLResponse(values["live"])
    return _page(request, name, values, status=status)


def _live(request: Request, name: str, values: dict[str, Any]) -> tuple[Markup, bool]:
    inner = _rendered(f"live/{name}", values)
    version = _digest(inner.encode())
    query = request.url.include_query_params(v=version)
    where = f"{query.path}?{query.query}"
    wrapper = _rendered("live.html", {"fragment": inner, "where": where})
    return wrapper, request.query_params.get("v") == version


def _rendered(name: str, values: dict[str, Any]) -> Markup:
    return Markup(_ENV.get_template(name).render(values))  # noqa: S704 - escaped by the template


def _page(request: Request, name: str, values: dict[str, Any], *, status: int = 200) -> Response:
    word = _spoken(request)
    response = HTMLResponse(_ENV.get_template(name).render(word=word, **values), status)
    if word is not None:
        response.delete_cookie(_word_cookie(request), path="/", httponly=True)
    return response


def fragment(request: Request, visitor: Visitor, name: str, **values: Any) -> Response:
    """Return a piece of a page."""
    values |= _values(request, visitor)
    return HTMLResponse(_ENV.get_template(name).render(values))


def outside(request: Request, name: str, *, status: int = 200, **values: Any) -> Response:
    """Return a page for somebody who is not signed in."""
    return _page(request, name, values | _values(request, None), status=status)


async def failed(request: Request, status: int, detail: str, headers: dict[str, str]) -> Response:
    """Return the page that says why there is none."""
    if status == 401:
        response = outside(request, "door.html", status=401, problem="")
    else:
        response = outside(request, "failed.html", status=status, code=status, detail=detail)
    response.headers.update(headers)
    return response


# --- after an act ----------------------------------------------------------------------------


async def act(request: Request, doing: Awaitable[Any], *, done: str, back: str) -> Response:
    """Do it, then go ``back``, where ``done`` is said, or why it could not be done."""
    try:
        await doing
    except GatewayError as error:
        if status_of(error) in (401, 403, 429):
            raise
        return say(request, str(error), back=back, good=False)
    return say(request, done, back=back)


def say(request: Request, text: str, *, back: str, good: bool = True) -> Response:
    """Go to ``back`` and say something there, once."""
    response = RedirectResponse(back, 303)
    response.set_cookie(
        _word_cookie(request),
        str(_words(request).dumps([good, text])),
        max_age=_WORD_HOLDS,
        httponly=True,
        samesite="strict",
        secure=by_tls(request),
    )
    return response


def _spoken(request: Request) -> tuple[bool, str] | None:
    try:
        good, text = _words(request).loads(
            request.cookies.get(_word_cookie(request), ""), max_age=_WORD_HOLDS
        )
    except BadSignature:
        return None
    return bool(good), str(text)


def _words(request: Request) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(parts_of(request).doors.word_key, salt="word")


def _word_cookie(request: Request) -> str:
    return parts_of(request).doors.cookie + _WORD


def typed(form: Any, name: str) -> str:
    """Return a field of a form as text."""
    value = form.get(name, "")
    return value if isinstance(value, str) else ""
