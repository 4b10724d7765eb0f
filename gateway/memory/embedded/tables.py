"""The service's tables, in the gateway's schema.

Whatever a peer may know of another hangs on a row of ``memory_pair``, so that no query can
reach over a perspective by leaving out a condition.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from gateway.store.columns import RowId, Utc, metadata

Document = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=null)


def _key(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, primary_key=True)


def _row_id() -> sa.Column[int]:
    return sa.Column("id", RowId, primary_key=True, autoincrement=True)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False, server_default="0")


def _described() -> tuple[sa.Column[Any], ...]:
    return (
        sa.Column("metadata", Document, nullable=False),
        sa.Column("configuration", Document, nullable=False),
        sa.Column("created_at", Utc, nullable=False),
    )


workspace = sa.Table("memory_workspace", metadata, _key("id"), *_described())

peer = sa.Table("memory_peer", metadata, _key("workspace"), _key("id"), *_described())

#: a deleted session leaves its id, so that it is never taken up again by a late message
session = sa.Table(
    "memory_session",
    metadata,
    _key("workspace"),
    _key("id"),
    *_described(),
    _count("last_seq"),
    sa.Column("deleted_at", Utc, nullable=True),
)

#: who takes part now; an unset flag follows the peer (``observe_me``) or is off
membership = sa.Table(
    "memory_membership",
    metadata,
    _key("workspace"),
    _key("session"),
    _key("peer"),
    sa.Column("observe_me", sa.Boolean, nullable=True),
    sa.Column("observe_others", sa.Boolean, nullable=True),
    sa.Column("joined_at", Utc, nullable=False),
    sa.Index(None, "workspace", "peer"),
)

message = sa.Table(
    "memory_message",
    metadata,
    _row_id(),
    sa.Column("public_id", sa.Text, nullable=False, unique=True),
    _text("workspace"),
    _text("session"),
    sa.Column("seq", sa.Integer, nullable=False),
    _text("peer"),
    _text("content"),
    sa.Column("metadata", Document, nullable=False),
    _count("token_count"),
    sa.Column("created_at", Utc, nullable=False),
    sa.UniqueConstraint("workspace", "session", "seq"),
    sa.Index(None, "workspace", "peer", "id"),
)

#: what ``observer`` knows of ``observed``; a peer's view of itself is the service's own view
pair = sa.Table(
    "memory_pair",
    metadata,
    _row_id(),
    _text("workspace"),
    _text("observer"),
    _text("observed"),
    sa.Column("card", Document, nullable=True),
    sa.UniqueConstraint("workspace", "observer", "observed"),
)

#: which messages a pair's observer was there to hear: decided when they are stored
observation = sa.Table(
    "memory_observation",
    metadata,
    sa.Column("pair", RowId, sa.ForeignKey("memory_pair.id"), primary_key=True),
    sa.Column("message", RowId, sa.ForeignKey("memory_message.id"), primary_key=True),
    #: the observer has not thought about it yet
    sa.Column("waiting", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Index(None, "message"),
    sa.Index(
        "ix_memory_observation_waiting",
        "pair",
        "message",
        sqlite_where=sa.text("waiting"),
        postgresql_where=sa.text("waiting"),
    ),
)

conclusion = sa.Table(
    "memory_conclusion",
    metadata,
    _row_id(),
    sa.Column("public_id", sa.Text, nullable=False, unique=True),
    sa.Column("pair", RowId, sa.ForeignKey("memory_pair.id"), nullable=False),
    _text("session", null=True),
    _text("content"),
    _text("level"),  # explicit | deductive | inductive | contradiction
    #: when it was said or made, which is what "newer" goes by
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("origin", sa.Text, nullable=False, server_default="hand"),  # hand | model | rule
    #: belongs on the pair's card
    sa.Column("lasting", sa.Boolean, nullable=False, server_default=sa.false()),
    #: the newer conclusion that holds instead; such a one is shown nowhere
    sa.Column("replaced_by", RowId, nullable=True),
    sa.Index(None, "pair", "id"),
    sa.Index(None, "replaced_by"),
)

#: the messages that a conclusion was drawn from
evidence = sa.Table(
    "memory_evidence",
    metadata,
    sa.Column("conclusion", RowId, sa.ForeignKey("memory_conclusion.id"), primary_key=True),
    sa.Column("message", RowId, sa.ForeignKey("memory_message.id"), primary_key=True),
    sa.Index(None, "message"),
)

#: what a text means, as an encoder sees it: little-endian floats of four bytes
vector = sa.Table(
    "memory_vector",
    metadata,
    _key("kind"),  # message | conclusion
    sa.Column("item", RowId, primary_key=True, autoincrement=False),
    _text("model"),
    sa.Column("dimension", sa.Integer, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)

#: what thinking cost, by hour
cost = sa.Table(
    "memory_cost",
    metadata,
    sa.Column("hour", Utc, primary_key=True),
    _key("kind"),  # derive | summary | answer
    _count("calls"),
    _count("input_tokens"),
    _count("output_tokens"),
)

#: the newest short and long summary of a session, each up to message ``seq``
summary = sa.Table(
    "memory_summary",
    metadata,
    _key("workspace"),
    _key("session"),
    _key("kind"),  # short | long
    _text("content"),
    sa.Column("seq", sa.Integer, nullable=False),
    _text("message"),
    _count("token_count"),
    sa.Column("created_at", Utc, nullable=False),
)
