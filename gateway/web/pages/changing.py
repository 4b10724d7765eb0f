"""Changing who is who: a form, what it would do, then the change; nothing is saved unseen."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, get_args

from fastapi import APIRouter, Request, Response

from gateway.model.errors import ConfigurationError
from gateway.web import identity, linking
from gateway.web.access import AnyVisitor, JudgedFirst, Operator, TheParts
from gateway.web.identity_shapes import Application, Doing, PreviewShape, Wish
from gateway.web.pages.common import act, fragment, say, show, typed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.web.doors import Visitor
    from gateway.web.identity_shapes import AppliedShape
    from gateway.web.parts import Parts

router = APIRouter(route_class=JudgedFirst)

_LONGEST = 200


@router.get("/aliases")
async def show_aliases(request: Request, parts: TheParts, visitor: AnyVisitor) -> Response:
    """The alias map with its history, and the form for a new entry."""
    values = await _known(parts)
    return show(
        request,
        visitor,
        "aliases.html",
        live=True,
        aliases=await identity.aliases(parts),
        history=await identity.history(parts),
        jobs=await identity.jobs(parts),
        links=await linking.view(parts),
        **_form(_wish(request.query_params), None),
        **values,
    )


@router.get("/aliases/change")
async def ask(request: Request, parts: TheParts, visitor: AnyVisitor) -> Response:
    """One change, what it would do, and the button that makes it."""
    wish = _wish(request.query_params)
    return await _asked(request, parts, visitor, wish)


@router.post("/aliases/preview")
async def preview(request: Request, parts: TheParts, visitor: AnyVisitor) -> Response:
    """What the form would do as it is filled in now."""
    wish = _wish(await request.form())
    if request.headers.get("HX-Request"):
        seen = await _seen(parts, wish) if _filled(wish) else _nothing(wish)
        return fragment(request, visitor, "preview.html", **seen)
    return await _asked(request, parts, visitor, wish)


@router.post("/aliases/apply")
async def apply(request: Request, parts: TheParts, visitor: Operator) -> Response:
    """Make a change that was seen; show it again where somebody else was faster."""
    form = await request.form()
    wish, reason = _wish(form), typed(form, "reason")[:_LONGEST]
    expected = typed(form, "expected")[:64]
    if not expected or typed(form, "shown") != _mark(wish):
        return await _asked(request, parts, visitor, wish, reason=reason)
    follow = typed(form, "follow") == "yes"
    wanted = Application(wish=wish, expected=expected, reason=reason, follow=follow)
    try:
        done = await identity.apply(parts, visitor, wanted)
    except ConfigurationError:
        return await _asked(request, parts, visitor, wish, reason=reason, status=422)
    if done.applied:
        return say(request, _said(done), back="/aliases")
    return await _asked(request, parts, visitor, wish, reason=reason, lost=done, status=409)


@router.post("/links/decide")
async def decide_link(request: Request, parts: TheParts, visitor: Operator) -> Response:
    """Say yes or no to a link that waits."""
    form = await request.form()
    yes = typed(form, "yes") == "yes"
    doing = linking.decide(parts, visitor, typed(form, "code")[:_LONGEST], yes=yes)
    done = "Joined; both sides were told." if yes else "Not joined. Nobody was told."
    return await act(request, doing, done=done, back="/aliases")


@router.post("/links/remove")
async def remove_link(request: Request, parts: TheParts, visitor: Operator) -> Response:
    """Take an account's links away."""
    account = typed(await request.form(), "account")[:_LONGEST]
    doing = linking.separate(parts, visitor, account)
    return await act(request, doing, done=f"{account} was taken apart.", back="/aliases")


def _said(done: AppliedShape) -> str:
    if done.id is None:
        return "It was like that already: nothing was changed."
    said = f"Saved as change {done.id}. The next message goes by it."
    return said if done.job is None else f"{said} Memory follows as job {done.job}."


async def _asked(
    request: Request,
    parts: Parts,
    visitor: Visitor,
    wish: Wish,
    *,
    reason: str = "",
    lost: AppliedShape | None = None,
    status: int = 200,
) -> Response:
    seen = await _seen(parts, wish, lost) if _filled(wish) else _nothing(wish)
    values = {**await _known(parts), **seen, "reason": reason}
    return show(request, visitor, "change.html", status=status, **values)


async def _seen(parts: Parts, wish: Wish, lost: AppliedShape | None = None) -> dict[str, Any]:
    """Return the wish with what it would do, or with what is wrong with it."""
    try:
        seen = await identity.preview(parts, wish)
    except ConfigurationError as error:
        return _form(wish, None, problems=list(error.problems), lost=lost)
    return _form(wish, seen, problems=seen.problems, lost=lost)


def _nothing(wish: Wish) -> dict[str, Any]:
    return _form(wish, None)


def _form(
    wish: Wish,
    seen: PreviewShape | None,
    *,
    problems: list[str] | None = None,
    lost: AppliedShape | None = None,
) -> dict[str, Any]:
    return {
        "wish": wish,
        "mark": _mark(wish),
        "seen": seen,
        "problems": problems or [],
        "lost": lost,
        "reason": "",
    }


def _mark(wish: Wish) -> str:
    """Return what tells the wish whose outcome was shown from one that was typed since."""
    return hashlib.sha256(wish.model_dump_json().encode()).hexdigest()[:16]


async def _known(parts: Parts) -> dict[str, Any]:
    """Return what the fields offer: accounts that wrote, and people."""
    people = await identity.people(parts)
    accounts = [
        (one.key, one.name) for each in people for one in each.accounts if one.kind != "operator"
    ]
    return {"accounts": accounts, "peers": [(one.peer, ", ".join(one.names)) for one in people]}


def _wish(fields: Mapping[str, Any]) -> Wish:
    """Return what a form says; whatever it does not say is empty."""
    doing = typed(fields, "do")
    number = typed(fields, "number")
    return Wish.model_validate(
        {
            "do": doing if doing in get_args(Doing) else "alias",
            **{name: typed(fields, name)[:_LONGEST] for name in ("account", "person", "into")},
            "number": int(number) if number.isdecimal() and len(number) < 12 else 0,
        }
    )


def _filled(wish: Wish) -> bool:
    """Tell whether enough was said to show what it would do."""
    needed = {
        "alias": (wish.account, wish.person),
        "remove": (wish.account,),
        "merge": (wish.person, wish.into),
        "split": (wish.account,),
        "undo": (wish.number,),
        "unpin": (True,),
    }
    return all(needed[wish.do])
