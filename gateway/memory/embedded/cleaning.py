"""JSON from outside: what every database can hold of it, and how much of it is taken."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from gateway.text.clean import clean

MAX_METADATA_KEYS = 100
MAX_METADATA_DEPTH = 5
#: lists do not count as depth of metadata, but nothing may be as deep as this
_MAX_NESTING = 50


def cleaned(value: Any, depth: int = 0) -> Any:
    """Return JSON without NUL and lone surrogates, which not every database can hold.

    Raises ``ValueError`` for numbers that are none and for nesting without end.
    """
    if depth > _MAX_NESTING:
        raise ValueError(f"Nesting exceeds maximum depth of {_MAX_NESTING}")
    match value:
        case str():
            return clean(value)
        case dict():
            return {clean(str(key)): cleaned(each, depth + 1) for key, each in value.items()}
        case list():
            return [cleaned(each, depth + 1) for each in value]
        case float() if not math.isfinite(value):
            raise ValueError("Numbers must be finite")
    return value


def _checked_metadata(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if len(value) > MAX_METADATA_KEYS:
        raise ValueError(f"Metadata exceeds maximum of {MAX_METADATA_KEYS} top-level keys")
    if _depth(value) > MAX_METADATA_DEPTH:
        raise ValueError(f"Metadata nesting exceeds maximum depth of {MAX_METADATA_DEPTH}")
    return cleaned(value)


def _depth(value: dict[str, Any], limit: int = MAX_METADATA_DEPTH) -> int:
    """Return how deep objects stand directly in objects, at most ``limit`` + 1."""
    if limit == 0:
        return 1
    return 1 + max(
        (_depth(each, limit - 1) for each in value.values() if type(each) is dict), default=0
    )


def _without_nulls(value: list[str]) -> list[str]:
    return [clean(each) for each in value]


Text = Annotated[str, AfterValidator(clean)]
Metadata = Annotated[dict[str, Any], BeforeValidator(_checked_metadata)]
Filters = Annotated[dict[str, Any], BeforeValidator(cleaned)]
PeerCard = Annotated[list[str], AfterValidator(_without_nulls)]
