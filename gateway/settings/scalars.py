"""Judge one scalar by what was typed: the value it means, or why it means none."""

from __future__ import annotations

import re
import zoneinfo
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gateway.settings.findings import nearest
from gateway.settings.nodes import Scalar, Style
from gateway.text.clean import check_name, nfc

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,9})?")
_PLAIN_DIGITS = re.compile(r"-?(?:0|[1-9][0-9]*)")
#: what YAML 1.1, YAML 1.2 or JSON read as a number: fractions, exponents, octal, sexagesimal
_NUMBER_LIKE = re.compile(
    r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|[-+]?0[xob][0-9A-Fa-f_]+"
)
_FLOAT_WORD = re.compile(r"[-+]?\.(?:inf|nan)|nan|[-+]?infinity", re.IGNORECASE)
_DURATION = re.compile(r"([1-9][0-9]{0,5})([smhdwy])")
_DURATION_UNIT = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "y": timedelta(days=365),
}
_SCHEMES = frozenset({"http", "https", "ws", "wss", "postgresql", "postgres", "sqlite"})


class RefusedError(Exception):
    """A value is not what its key needs: ``<value> is not <wants>; <remedy>``, or ``flaw``."""

    def __init__(self, wants: str, remedy: str = "", *, flaw: str = "") -> None:
        super().__init__(wants)
        self.wants = wants
        self.remedy = remedy
        self.flaw = flaw

    @property
    def problem(self) -> str:
        """What to print after the value."""
        if self.flaw:
            return self.flaw
        return f"is not {self.wants}" + (f"; {self.remedy}" if self.remedy else "")


def boolean(scalar: Scalar) -> bool:
    """Return a switch: true/false/yes/no/on/off/1/0 in any case, quoted or not."""
    word = scalar.text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise RefusedError("a switch", "write true or false")


def integer(scalar: Scalar) -> int:
    """Return a whole number in plain decimal digits."""
    return int(_digits(scalar, _WHOLE, "a whole number"))


def number(scalar: Scalar) -> float:
    """Return a number in plain decimal notation."""
    return float(_digits(scalar, _DECIMAL, "a number"))


def _digits(scalar: Scalar, shape: re.Pattern[str], wants: str) -> str:
    text = scalar.text.strip() if scalar.style is Style.VARIABLE else scalar.text
    if not shape.fullmatch(text):
        raise RefusedError(wants, "write plain decimal digits")
    if scalar.style is Style.QUOTED:
        raise RefusedError(f"{wants} but text", "write it without quotes")
    return text


def duration(scalar: Scalar) -> timedelta:
    """Return a time span such as ``90s``, ``24h``, ``30d`` or ``1y`` (365 days)."""
    found = _DURATION.fullmatch(scalar.text.strip())
    if found is None:
        raise RefusedError(
            "a time span", "write a whole number and a unit: 90s, 15m, 24h, 30d, 1y"
        )
    return int(found[1]) * _DURATION_UNIT[found[2]]


def choice(scalar: Scalar, choices: Iterable[str], synonyms: Mapping[str, str]) -> str:
    """Return one of ``choices``, written exactly or as a listed synonym."""
    known = tuple(choices)
    word = scalar.text.strip()
    word = synonyms.get(word, word)
    if word in known:
        return word
    close = nearest(word, known)
    remedy = f"did you mean {close}?" if close else ""
    raise RefusedError(f"one of {', '.join(known)}", remedy)


def text(scalar: Scalar) -> str:
    """Return a text, trimmed. Bare words that YAML or JSON take for something else are refused.

    A bare whole number is its digits; a fraction, an exponent, a switch or nothing is a fault,
    since nobody can say which text was meant.
    """
    if scalar.style is Style.PLAIN and (scalar.null or _ambiguous(scalar.text)):
        raise RefusedError("a text", "write it in quotes")
    value = scalar.text.strip()
    flaw = check_name(value) if value else None
    if flaw is not None:
        raise RefusedError("a text", flaw=flaw)
    return value


def _ambiguous(word: str) -> bool:
    if word.lower() in _TRUE | _FALSE:
        return word.lower() not in {"0", "1"}
    if _FLOAT_WORD.fullmatch(word):
        return True
    return bool(_NUMBER_LIKE.fullmatch(word)) and not _PLAIN_DIGITS.fullmatch(word)


def name(scalar: Scalar) -> str:
    """Return a person's, agent's or workspace's name: trimmed and NFC-normalised."""
    return nfc(text(scalar))


def zone(scalar: Scalar) -> str:
    """Return the name of a time zone that this machine knows."""
    value = text(scalar)
    try:
        zoneinfo.ZoneInfo(value)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        close = nearest(value, zoneinfo.available_timezones())
        remedy = f"did you mean {close}?" if close else "write a name such as Europe/Berlin"
        raise RefusedError("a known time zone", remedy) from None
    return value


def address(scalar: Scalar) -> str:
    """Return a URL with a scheme and a host (a database's may be a file's)."""
    value = text(scalar)
    try:
        parts = urlsplit(value)
        whole = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        raise RefusedError(
            "an address", "write it whole, such as https://host:port/path"
        ) from None
    scheme = parts.scheme.partition("+")[0]
    if scheme not in _SCHEMES or not (whole or scheme in {"sqlite", "postgresql", "postgres"}):
        raise RefusedError("an address", "write it whole, such as https://host:port/path")
    return value
