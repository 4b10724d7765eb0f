"""What the tables are made of: ids as TEXT, times as aware UTC, names for every constraint."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

#: SQLite gives out row ids only for INTEGER
RowId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class _Micros(sa.types.UserDefinedType[Any]):
    """SQLite's times: whole microseconds since 1970, a third of what their text would take."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """Return the declared type, which SQLite treats as a number's."""
        return "DATETIME"


class Utc(sa.TypeDecorator[datetime]):
    """Aware UTC in Python; refuses naive values, which would be somebody's local time."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        """Return how the dialect keeps it."""
        kept = _Micros() if dialect.name == "sqlite" else self.impl_instance
        return dialect.type_descriptor(kept)

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> Any:
        """Refuse a naive time and convert the rest to UTC."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a stored time needs its zone")
        value = value.astimezone(UTC)
        return (value - _EPOCH) // _MICROSECOND if dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> datetime | None:
        """Give the zone back. A text in SQLite was written by hand."""
        if value is None:
            return None
        if isinstance(value, int):
            return _EPOCH + value * _MICROSECOND
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        found: datetime = value
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def row_id() -> sa.Column[int]:
    """Return the primary key ``id``, given out in order."""
    return sa.Column("id", RowId, primary_key=True, autoincrement=True)


def text(name: str, *, null: bool = False, default: str | None = None) -> sa.Column[str]:
    """Return a TEXT column."""
    return sa.Column(name, sa.Text, nullable=null, server_default=default)


def time(name: str, *, null: bool = False) -> sa.Column[datetime]:
    """Return a column of aware UTC times."""
    return sa.Column(name, Utc, nullable=null)


def count(name: str) -> sa.Column[int]:
    """Return a whole number that starts at 0."""
    return sa.Column(name, sa.Integer, nullable=False, server_default="0")


def flag(name: str) -> sa.Column[bool]:
    """Return a boolean that starts as false."""
    return sa.Column(name, sa.Boolean, nullable=False, server_default=sa.false())
