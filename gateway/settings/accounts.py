"""Ids of accounts and places as configured text: judged by shape, never turned into numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gateway.settings.nodes import Scalar, Style
from gateway.settings.scalars import RefusedError

if TYPE_CHECKING:
    from collections.abc import Collection

#: what an id of each platform is made of; chats of Telegram may be signed
_SIGNED = re.compile(r"-?[1-9][0-9]{0,19}")
_DIGITS = re.compile(r"[1-9][0-9]{0,19}")
_TOKEN = re.compile(r"[A-Za-z0-9_-][!-~]*")
#: of a person, a bot or a channel, perhaps behind its team's or organisation's
_SLACK = re.compile(r"(?:[A-Z][A-Z0-9]*:)?[A-Z][A-Z0-9]*")
_SHAPES = {"telegram": _SIGNED, "discord": _DIGITS, "slack": _SLACK}
_STARTS_LIKE_NUMBER = re.compile(r"[-+.]?[0-9]")
_PLAIN_DIGITS = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NO_ID = re.compile(r"[-+]?[0-9]+\.[0-9]*|[-+]?[0-9.]+[eE][-+]?[0-9]+|true|false|null|none", re.I)
_QUOTE_IT = "write the digits in quotes"


def account(scalar: Scalar, platform: str) -> str:
    """Return the exact text of an id of ``platform``."""
    return check_id(_exact(scalar).removeprefix(f"{platform}:"), platform)


def qualified(scalar: Scalar, platforms: Collection[str]) -> str:
    """Return ``platform:id``."""
    value = _exact(scalar)
    platform, colon, ident = value.partition(":")
    if not colon:
        raise RefusedError("platform:id", f"write telegram:{value}" if value.isdigit() else "")
    return f"{_known(platform, platforms)}:{check_id(ident, platform.strip())}"


def bare_or_qualified(scalar: Scalar, platforms: Collection[str]) -> str:
    """Return ``id`` or ``platform:id``; the part before a colon must name a platform.

    A Slack id may hold its team: ``T0…:U0…``.
    """
    value = _exact(scalar)
    platform, colon, ident = value.partition(":")
    if colon and platform.strip() in platforms:
        return f"{platform.strip()}:{check_id(ident, platform.strip())}"
    return check_id(value, "")


def may_be_somebody(bare: str) -> bool:
    """Tell whether an id without its platform could be one of any of them: digits, or Slack's."""
    return bool(_DIGITS.fullmatch(bare) or _SLACK.fullmatch(bare))


def check_id(value: str, platform: str) -> str:
    """Return an id trimmed; raises ``RefusedError`` where it can be nobody's."""
    ident = value.strip()
    if ident == "*":
        raise RefusedError(
            "an id",
            f"to admit every account set access.allow_all.{platform or '<platform>'}: true",
        )
    shape = _SHAPES.get(platform, _TOKEN)
    if not shape.fullmatch(ident) or _NO_ID.fullmatch(ident):
        how = "id, exactly as the platform shows it"
        if platform in ("telegram", "discord"):
            how = "digits"
        raise RefusedError("an account id", f"write the {how}; names are no ids")
    return ident


def _exact(scalar: Scalar) -> str:
    """Return what was typed where it can only mean itself."""
    if scalar.style is Style.PLAIN:
        numeric = bool(_STARTS_LIKE_NUMBER.match(scalar.text))
        if scalar.null or _NO_ID.fullmatch(scalar.text):
            raise RefusedError("an account id", _QUOTE_IT)
        if numeric and ":" not in scalar.text and not _PLAIN_DIGITS.fullmatch(scalar.text):
            raise RefusedError("an account id", _QUOTE_IT)
    return scalar.text.strip()


def _known(platform: str, platforms: Collection[str]) -> str:
    if platform.strip() not in platforms:
        raise RefusedError("platform:id", f"the platforms are {', '.join(sorted(platforms))}")
    return platform.strip()
