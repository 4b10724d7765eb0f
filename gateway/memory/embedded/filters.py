"""The API's filter language, made into conditions of SQL.

``{"AND" | "OR" | "NOT": [...]}``, ``{field: value | [values] | null | "*"}``,
``{field: {"gte" | "lte" | "gt" | "lt" | "ne" | "in" | "contains" | "icontains": value}}``, and
the same one level down in ``metadata``. A fault is a ``RefusedError``: a filter that is not
understood must never widen what is shown.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.memory.embedded.documents import Document, document
from gateway.memory.embedded.errors import RefusedError
from gateway.memory.embedded.tables import Document as Json
from gateway.memory.embedded.wire import ID_PATTERN, MAX_ID
from gateway.store.columns import Utc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Condition = sa.ColumnElement[bool]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "gte": operator.ge,
    "lte": operator.le,
    "gt": operator.gt,
    "lt": operator.lt,
}
_ORDER = ("gte", "lte", "gt", "lt")
_OPERATORS = {*_ORDER, "ne", "in", "contains", "icontains"}
_LOGIC = ("AND", "OR", "NOT")
_MAX_DEPTH = 5
_MAX_SESSIONS = 1000
#: whole numbers that every column can be compared with
_WHOLE = 2**63
_ANY = "*"


@dataclass(frozen=True, slots=True)
class Fields:
    """What may be filtered on: the API's names and the columns behind them."""

    conn: sa.Connection
    columns: Mapping[str, sa.ColumnElement[Any]]

    def condition(self, filters: Mapping[str, Any] | None, depth: int = 0) -> Condition:
        """Return what ``filters`` ask for; everything when they are empty."""
        if depth > _MAX_DEPTH:
            raise RefusedError(f"Filter nesting exceeds maximum depth of {_MAX_DEPTH}")
        if not isinstance(filters or {}, dict):
            raise RefusedError("A filter must be an object")
        return sa.and_(
            sa.true(),
            *(
                self._logic(key, value, depth) if key in _LOGIC else self._field(key, value)
                for key, value in (filters or {}).items()
            ),
        )

    def _logic(self, word: str, parts: Any, depth: int) -> Condition:
        if not isinstance(parts, list):
            raise RefusedError(f"{word} operator must contain a list")
        conditions = [self.condition(part, depth + 1) for part in parts]
        if word == "OR":
            return sa.or_(*conditions) if conditions else sa.true()
        if word == "NOT":
            conditions = [sa.not_(sa.func.coalesce(each, sa.false())) for each in conditions]
        return sa.and_(sa.true(), *conditions)

    def _field(self, key: str, value: Any) -> Condition:
        column = self.columns.get(key)
        if column is None:
            raise RefusedError(f"Column '{key}' is not allowed to be filtered on")
        if value == _ANY:
            return sa.true()
        if column.type is Json:
            return _metadata(document(self.conn, column), key, value)
        if value is None:
            return column.is_(None)
        if isinstance(value, list):
            value = {"in": value}
        comparisons = value if isinstance(value, dict) else {"": value}
        return sa.and_(
            sa.true(),
            *(_column(column, key, word, each) for word, each in comparisons.items()),
        )


# --- columns ---------------------------------------------------------------------------------


def _column(column: sa.ColumnElement[Any], key: str, word: str, value: Any) -> Condition:
    if word and word not in _OPERATORS:
        raise RefusedError(f"Unsupported operator '{word}' for column '{key}'")
    if value == _ANY:
        return sa.true()
    if word == "in":
        return _among(column, key, value)
    if value is None and word == "ne":
        return column.is_not(None)
    if word in ("contains", "icontains"):
        return _like(column, key, value)
    operand = _operand(column, key, value)
    if word == "ne":
        return column.is_distinct_from(operand)
    compared: Condition = _COMPARISONS[word or "eq"](column, operand)
    return compared


def _among(column: sa.ColumnElement[Any], key: str, values: Any) -> Condition:
    if not isinstance(values, list):
        raise RefusedError("Invalid value for 'in' operator: expected a list")
    if _ANY in values:
        return sa.true()
    return column.in_([_operand(column, key, value) for value in values])


def _like(column: sa.ColumnElement[Any], key: str, value: Any) -> Condition:
    if not isinstance(column.type, sa.Text) or not isinstance(value, str):
        raise RefusedError(f"Operator 'contains' requires text, for column '{key}' too")
    return column.ilike(_pattern(value), escape="\\")


def _operand(column: sa.ColumnElement[Any], key: str, value: Any) -> Any:
    if isinstance(column.type, Utc):
        return _moment(value)
    expected: type | tuple[type, ...] = str
    if isinstance(column.type, sa.Boolean):
        expected = bool
    elif isinstance(column.type, sa.Integer):
        expected = (int, float)
    fits = isinstance(value, expected) and (expected is bool or not isinstance(value, bool))
    if not fits:
        raise RefusedError(f"Invalid value for column '{key}': {type(value).__name__}")
    if isinstance(value, int) and not -_WHOLE <= value < _WHOLE:
        return float(value)
    return value


def _moment(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise RefusedError("Invalid datetime value: use ISO 8601") from None


def _pattern(text: str) -> str:
    for special in ("\\", "%", "_"):
        text = text.replace(special, f"\\{special}")
    return f"%{text}%"


# --- metadata --------------------------------------------------------------------------------


def _metadata(held: Document, key: str, value: Any) -> Condition:
    if (
        isinstance(value, dict)
        and set(value) == {"contains"}
        and isinstance(value["contains"], dict)
    ):
        return held.contains(value["contains"])
    if not isinstance(value, dict) or set(value) & (_OPERATORS - {"in", "contains"}):
        raise RefusedError(f"Invalid filter for '{key}': it takes an object")
    return sa.and_(sa.true(), *(_entry(held, name, each) for name, each in value.items()))


def _entry(held: Document, name: str, value: Any) -> Condition:
    if value == _ANY:
        return sa.true()
    if not isinstance(value, dict) or not set(value) & _OPERATORS:
        return held.contains({name: value})
    return sa.and_(sa.true(), *(_compared(held, name, word, each) for word, each in value.items()))


def _compared(held: Document, name: str, word: str, value: Any) -> Condition:
    if word not in _OPERATORS:
        raise RefusedError(f"Unsupported comparison operator '{word}'")
    if value == _ANY:
        return sa.true()
    if word == "ne":
        return sa.and_(held.has(name), sa.not_(held.contains({name: value})))
    if word == "in":
        if not isinstance(value, list):
            raise RefusedError("Invalid value for 'in' operator: expected a list")
        return sa.true() if _ANY in value else held.any_of(name, value)
    if word in ("contains", "icontains"):
        return held.like(name, _pattern(str(value)))
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise RefusedError(f"Operator '{word}' takes a number or a text")
    return held.compare(name, value, _COMPARISONS[word])


# --- the narrow form that recall accepts -----------------------------------------------------


def allowed_sessions(
    filters: Mapping[str, Any] | None, *, must_include: str | None = None
) -> tuple[str, ...] | None:
    """Return the sessions that a recall's filters confine it to; None: it is not confined.

    Only ``session_id`` is understood; an empty list allows no session at all.
    """
    if filters is None:
        return None
    if set(filters) != {"session_id"}:
        raise RefusedError("Only 'session_id' is supported in the filters of this endpoint")
    value = filters["session_id"]
    if isinstance(value, dict) and set(value) == {"in"}:
        value = value["in"]
    return session_list([value] if isinstance(value, str) else value, must_include=must_include)


def session_list(entries: Any, *, must_include: str | None = None) -> tuple[str, ...]:
    """Return a checked list of session ids, which has to name ``must_include``."""
    if not isinstance(entries, list) or not all(_is_id(entry) for entry in entries):
        raise RefusedError("Expected a session id or a list of session ids")
    if len(entries) > _MAX_SESSIONS:
        raise RefusedError(f"At most {_MAX_SESSIONS} sessions can be named")
    if must_include is not None and must_include not in entries:
        raise RefusedError("session_id must be one of the allowed sessions")
    return tuple(dict.fromkeys(entries))


def _is_id(entry: Any) -> bool:
    return (
        isinstance(entry, str) and len(entry) <= MAX_ID and bool(re.fullmatch(ID_PATTERN, entry))
    )
