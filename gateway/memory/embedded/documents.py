"""Conditions on JSON columns, for both dialects. Types are kept apart: 5 is not "5"."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Condition = sa.ColumnElement[bool]

#: SQLite's whole numbers end here; beyond, a number is compared as a float
_WHOLE = 2**63


class SqliteDocument:
    """Conditions on a JSON column of SQLite, by walking it with ``json_each``."""

    def __init__(self, column: sa.ColumnElement[Any]) -> None:
        self._column = column

    def contains(self, pattern: dict[str, Any]) -> Condition:
        """Whether the document holds all of ``pattern``, nested objects and list members too."""
        return _sqlite_object(self._column, pattern)

    def has(self, key: str) -> Condition:
        """Whether the document has this key, whatever its value."""
        return _member(self._column, lambda _each: sa.true(), key)

    def compare(self, key: str, operand: float | str, by: Callable[..., Any]) -> Condition:
        """Whether a value of the operand's type compares with it by ``by``."""
        kinds = ["text"] if isinstance(operand, str) else ["integer", "real"]
        bound = operand if isinstance(operand, str) else _number(operand)
        return _member(
            self._column,
            lambda each: sa.and_(each.c.type.in_(kinds), by(each.c.value, bound)),
            key,
        )

    def any_of(self, key: str, operands: Sequence[Any]) -> Condition:
        """Whether the value equals one of ``operands``, of whatever type each is."""
        texts = [each for each in operands if isinstance(each, str)]
        others = [each for each in operands if not isinstance(each, str)]
        return _member(
            self._column,
            lambda each: sa.or_(
                sa.and_(each.c.type == "text", each.c.value.in_(texts)),
                *(_sqlite_value(each, other) for other in others),
            ),
            key,
        )

    def like(self, key: str, pattern: str) -> Condition:
        """Whether a text matches a LIKE pattern, ``\\`` escaping."""
        return _member(
            self._column,
            lambda each: sa.and_(
                each.c.type == "text", sa.cast(each.c.value, sa.Text).ilike(pattern, escape="\\")
            ),
            key,
        )


def _member(
    document: sa.ColumnElement[Any],
    fits: Callable[[sa.FromClause], Condition],
    key: str | None = None,
) -> Condition:
    """Whether one entry of an object (the one of ``key``) or of a list fits."""
    each = sa.func.json_each(document).table_valued("key", "value", "type").alias()
    named = sa.true() if key is None else each.c.key == key
    return sa.select(sa.literal(1)).select_from(each).where(named, fits(each)).exists()


def _sqlite_object(document: sa.ColumnElement[Any], pattern: dict[str, Any]) -> Condition:
    entries = (
        _member(document, partial(_sqlite_value, value=value), key)
        for key, value in pattern.items()
    )
    return sa.and_(sa.true(), *entries)


def _sqlite_value(each: sa.FromClause, value: Any) -> Condition:
    """Whether an entry (its columns ``type`` and ``value``) is ``value``, or holds all of it."""
    match value:
        case None:
            return each.c.type == "null"
        case bool():
            return each.c.type == ("true" if value else "false")
        case int() | float():
            return sa.and_(each.c.type.in_(["integer", "real"]), each.c.value == _number(value))
        case str():
            return sa.and_(each.c.type == "text", each.c.value == value)
        case dict():
            return sa.and_(each.c.type == "object", _sqlite_object(each.c.value, value))
    members = (_member(each.c.value, partial(_sqlite_value, value=one)) for one in value)
    return sa.and_(each.c.type == "array", *members)


def _number(value: float) -> float:
    return value if -_WHOLE <= value < _WHOLE else float(value)


class PostgresDocument:
    """Conditions on a JSONB column of PostgreSQL."""

    def __init__(self, column: sa.ColumnElement[Any]) -> None:
        self._column = sa.type_coerce(column, JSONB())

    def contains(self, pattern: dict[str, Any]) -> Condition:
        """See ``SqliteDocument.contains``."""
        return self._column.contains(pattern)

    def has(self, key: str) -> Condition:
        """See ``SqliteDocument.has``."""
        return cast("Condition", self._column.has_key(key))

    def compare(self, key: str, operand: float | str, by: Callable[..., Any]) -> Condition:
        """See ``SqliteDocument.compare``."""
        text = self._column[key].astext
        if isinstance(operand, str):
            value: sa.ColumnElement[Any] = self._typed(key, "string", text)
            return sa.func.coalesce(by(value.collate("C"), operand), sa.false())
        value = self._typed(key, "number", sa.cast(text, sa.Numeric))
        bound = sa.cast(sa.literal(str(operand)), sa.Numeric)
        return sa.func.coalesce(by(value, bound), sa.false())

    def any_of(self, key: str, operands: Sequence[Any]) -> Condition:
        """See ``SqliteDocument.any_of``."""
        texts = [each for each in operands if isinstance(each, str)]
        others = [each for each in operands if not isinstance(each, str)]
        value = self._typed(key, "string", self._column[key].astext)
        return sa.or_(
            sa.func.coalesce(value.in_(texts), sa.false()),
            *(self._column.contains({key: other}) for other in others),
        )

    def like(self, key: str, pattern: str) -> Condition:
        """See ``SqliteDocument.like``."""
        value = self._typed(key, "string", self._column[key].astext)
        return sa.func.coalesce(value.ilike(pattern, escape="\\"), sa.false())

    def _typed(self, key: str, kind: str, value: sa.ColumnElement[Any]) -> sa.Case[Any]:
        return sa.case((sa.func.jsonb_typeof(self._column[key]) == kind, value))


Document = SqliteDocument | PostgresDocument


def document(conn: sa.Connection, column: sa.ColumnElement[Any]) -> Document:
    """Return the conditions that the connection's dialect can run on a JSON column."""
    sqlite = conn.dialect.name == "sqlite"
    return SqliteDocument(column) if sqlite else PostgresDocument(column)
