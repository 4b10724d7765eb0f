"""Asks for the operator's own name, which is ``peerName``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.setup import judging
from gateway.setup.asking import Line
from gateway.setup.drafts import Draft
from gateway.text.clean import nfc

if TYPE_CHECKING:
    from gateway.setup.session import Session


def ask_name(session: Session, *, needed: bool = False) -> str:
    """Return ``peerName``; asked where it is ``needed`` and not there, or first of all.

    "" only from a file of answers, which then lacks it.
    """
    honcho = session.now.honcho
    present = honcho.peer_name or ""
    if needed and present:
        return present
    question = Line(
        "name",
        "Your name?",
        default=present,
        suggestion=session.bench.stand_in(session.now),
        must=needed,
        check=judging.person(honcho.ai_peer),
    )
    name = nfc(session.asker.line(question).strip())
    if name and name != present:
        session.apply(Draft(honcho={("peerName",): name}))
    return name
