"""What is wrong with a typed answer, by the rules of the configuration's own reader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gateway.policy import naming
from gateway.settings import accounts, scalars
from gateway.settings.nodes import Scalar, Source, Style
from gateway.settings.scalars import RefusedError
from gateway.text.clean import check_name, nfc

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_TYPED = Source(Path("answer"))


def _scalar(text: str) -> Scalar:
    return Scalar(text, Style.QUOTED, _TYPED)


def person(agent: str) -> Callable[[str], str | None]:
    """Judge a person's name, which must not be the agent's."""
    taken = next(naming.candidates(agent)) if agent else ""

    def check(text: str) -> str | None:
        name = nfc(text.strip())
        if problem := check_name(name):
            return problem
        if next(naming.candidates(name)) == taken:
            return "is the agent's own name; give another one"
        return None

    return check


def address(text: str) -> str | None:
    """Judge the address of a server."""
    try:
        url = scalars.address(_scalar(text))
    except RefusedError as refused:
        return refused.problem
    return (
        None if url.startswith(("http://", "https://")) else "must begin with http:// or https://"
    )


def secret(text: str) -> str | None:
    """Judge a key or token by what no key holds."""
    fine = text.isprintable() and not any(letter.isspace() for letter in text)
    return None if fine else "holds blanks or odd characters; copy it anew"


def account(platform: str) -> Callable[[str], str | None]:
    """Judge an account's id on a platform."""

    def check(text: str) -> str | None:
        try:
            accounts.account(_scalar(text), platform)
        except RefusedError as refused:
            return refused.problem
        return None

    return check


def alias(platforms: Collection[str], agent: str) -> Callable[[str, str], str | None]:
    """Judge an entry of the alias map."""
    judge = person(agent)

    def check(key: str, target: str) -> str | None:
        try:
            accounts.bare_or_qualified(_scalar(key), platforms)
        except RefusedError as refused:
            return refused.problem
        return judge(target)

    return check


def prefix(text: str) -> str | None:
    """Judge what may stand before generated names."""
    return check_name(text) if text else None


def count(text: str) -> str | None:
    """Judge a whole number from 1 on."""
    fine = text.isascii() and text.isdigit() and int(text) > 0
    return None if fine else "is no number from 1 on"
