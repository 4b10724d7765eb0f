"""The schema, for both dialects. Every id is TEXT, every time is aware UTC.

A change here needs a migration; ``tests/contract/store`` compares the two.
"""

from __future__ import annotations

from datetime import UTC, datetime
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


class Utc(sa.TypeDecorator[datetime]):
    """Aware UTC in Python; refuses naive values, which would be somebody's local time."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Refuse a naive time and convert the rest to UTC."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a stored time needs its zone")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> datetime | None:
        """Give the zone back."""
        if not isinstance(value, datetime):
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _row_id() -> sa.Column[int]:
    return sa.Column("id", RowId, primary_key=True, autoincrement=True)


def _text(name: str, *, null: bool = False, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=null, server_default=default)


def _time(name: str, *, null: bool = False) -> sa.Column[datetime]:
    return sa.Column(name, Utc, nullable=null)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False, server_default="0")


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=False, server_default=sa.false())


#: all that was said, once; every other table points here
message = sa.Table(
    "message",
    metadata,
    _row_id(),
    _text("conversation"),
    _text("session", null=True),
    _text("turn", null=True),
    _text("role"),  # user | assistant | edit
    _text("author", default=""),
    _text("text"),
    _time("sent_at"),
    _time("stored_at"),
    sa.Index(None, "session", "id"),
    sa.Index(None, "turn"),
)

#: one row for each event of a platform; its key outlives its text, so redelivery stays silent
inbox = sa.Table(
    "inbox",
    metadata,
    _row_id(),
    _text("platform"),
    _text("account"),
    _text("place"),
    _text("message"),
    _text("revision", default=""),
    _text("kind"),
    _text("state"),
    _text("reason", default=""),
    _text("conversation", null=True),
    _text("turn", null=True),
    sa.Column("message_id", RowId, sa.ForeignKey("message.id"), nullable=True),
    sa.Column("event", sa.JSON, nullable=True),
    sa.Column("raw", sa.LargeBinary, nullable=True),
    _time("sent_at"),
    _time("received_at"),
    sa.UniqueConstraint("platform", "account", "place", "message", "revision"),
    sa.Index(None, "turn"),
    sa.Index(None, "received_at"),
)

#: updates that could not be parsed: kept whole until an operator looks
set_aside = sa.Table(
    "set_aside",
    metadata,
    _row_id(),
    _text("platform"),
    _text("account"),
    _text("number"),
    _text("fault"),
    sa.Column("raw", sa.LargeBinary, nullable=False),
    _time("received_at"),
    sa.UniqueConstraint("platform", "account", "number"),
)

turn = sa.Table(
    "turn",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    _text("conversation"),
    _text("session"),
    _text("peer"),
    _text("rung"),
    sa.Column("identity", sa.JSON, nullable=False),
    _text("state"),
    _count("attempt"),
    _flag("stop_requested"),
    _text("platform"),
    _text("account"),
    _text("place"),
    _text("thread", null=True),
    _text("scope", default=""),
    _text("user_id", default=""),
    _text("reply_to"),
    _text("language", default="en"),
    sa.Column("usage", sa.JSON, nullable=True),
    #: what was recalled: with its text until the turn is closed, then only which layers
    sa.Column("recall", sa.JSON, nullable=True),
    _text("error", default=""),
    _time("created_at"),
    _time("updated_at"),
    sa.Index(None, "conversation", "id"),
    sa.Index(None, "state"),
)

#: every arrow of the state machine, for the trace
checkpoint = sa.Table(
    "checkpoint",
    metadata,
    _row_id(),
    sa.Column("turn", sa.Text, sa.ForeignKey("turn.id", ondelete="CASCADE"), nullable=False),
    _text("step"),
    _text("status"),
    _count("attempt"),
    _text("detail", default=""),
    _time("at"),
    sa.Index(None, "turn", "id"),
)

#: committed model steps of a turn that is not answered yet
turn_step = sa.Table(
    "turn_step",
    metadata,
    sa.Column("turn", sa.Text, sa.ForeignKey("turn.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    _text("step"),
)

outbox = sa.Table(
    "outbox",
    metadata,
    _row_id(),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    _text("turn", null=True),
    _count("ordinal"),
    _flag("last"),
    _text("platform"),
    _text("account"),
    _text("place"),
    _text("thread", null=True),
    _text("reply_to", null=True),
    _text("purpose"),  # answer | notice | pairing
    #: the part's text with its ranges; dropped once the part is delivered
    sa.Column("content", sa.JSON, nullable=True),
    _text("state"),
    _count("attempts"),
    _text("sent_message", null=True),
    _text("error", default=""),
    _text("degraded", default=""),
    _time("created_at"),
    _time("updated_at"),
    sa.Index(None, "turn"),
    sa.Index(None, "state"),
)

#: each message on its way to memory; ``key`` is made before the first attempt
ledger = sa.Table(
    "ledger",
    metadata,
    _row_id(),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    sa.Column("session", sa.Text, sa.ForeignKey("session.id"), nullable=False),
    sa.Column("seq", sa.Integer, nullable=False),
    _text("peer"),
    _text("role"),
    sa.Column("message_id", RowId, sa.ForeignKey("message.id"), nullable=False),
    _text("turn"),
    #: held (waits for a delivery) | due | sending | saved | parked | skipped
    _text("state"),
    _text("reason", default=""),
    #: sends after which the service did not have it
    _count("attempts"),
    #: sending: when the service can be asked what became of it
    _time("look_at", null=True),
    #: the limit by which it was cut at its first send
    sa.Column("part_limit", sa.Integer, nullable=True),
    _time("sent_at"),
    _time("created_at"),
    sa.UniqueConstraint("session", "seq"),
    sa.Index(None, "state"),
    sa.Index(None, "turn"),
    sa.Index(
        "ix_ledger_open",
        "session",
        "seq",
        sqlite_where=sa.text("state IN ('held', 'due', 'sending')"),
        postgresql_where=sa.text("state IN ('held', 'due', 'sending')"),
    ),
)

conversation = sa.Table(
    "conversation",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    _text("platform"),
    _text("account"),
    _text("place_kind"),
    _text("place"),
    _text("thread", null=True),
    _text("participant", null=True),
    _text("session", null=True),
    _text("title", default=""),
    _count("sessions"),
    _time("created_at"),
    _time("last_activity", null=True),
    sa.Index(None, "platform", "account", "place"),
)

session = sa.Table(
    "session",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    _text("conversation"),
    sa.Column("ordinal", sa.Integer, nullable=False),
    #: the person of a personal conversation; a change opens a new session
    _text("peer", null=True),
    _count("last_seq"),
    _count("last_saved_index"),
    _time("opened_at"),
    _time("closed_at", null=True),
    _text("close_reason", default=""),
    #: where its rows go since the memory service lost it
    _text("replaced_by", null=True),
    sa.UniqueConstraint("conversation", "ordinal"),
)

#: who was made a member of a memory session, with the flags as the service has them
session_member = sa.Table(
    "session_member",
    metadata,
    sa.Column("session", sa.Text, sa.ForeignKey("session.id"), primary_key=True),
    sa.Column("peer", sa.Text, primary_key=True),
    sa.Column("observe_me", sa.Boolean, nullable=True),
    sa.Column("observe_others", sa.Boolean, nullable=True),
    _time("opened_at"),
)

place = sa.Table(
    "place",
    metadata,
    sa.Column("platform", sa.Text, primary_key=True),
    sa.Column("account", sa.Text, primary_key=True),
    sa.Column("place", sa.Text, primary_key=True),
    _text("kind"),
    _text("title", default=""),
    _text("moved_to", null=True),
    _text("moved_from", null=True),
    _time("unreachable_at", null=True),
    _text("last_message", default=""),
    _time("last_seen"),
)

person = sa.Table(
    "person",
    metadata,
    sa.Column("platform", sa.Text, primary_key=True),
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    _text("name", default=""),
    _text("language", default=""),
    _time("first_seen"),
    _time("last_seen"),
)

#: accounts that were let in by pairing
access_grant = sa.Table(
    "access_grant",
    metadata,
    sa.Column("platform", sa.Text, primary_key=True),
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    _flag("admin"),
    _text("granted_by"),
    _time("granted_at"),
)

pairing = sa.Table(
    "pairing",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    _text("platform"),
    _text("account"),
    _text("scope", default=""),
    _text("user_id"),
    _text("language", default=""),
    _text("place"),
    _text("thread", null=True),
    _text("code_hash"),
    _text("state"),  # waiting | approved | revoked
    _time("created_at"),
    _time("expires_at"),
    sa.Index(None, "platform", "state"),
)

#: single facts that the gateway must remember: cursors, the first Slack team, lock-outs
fact = sa.Table(
    "fact",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    _text("value"),
    _time("updated_at"),
)

#: which original text holds a cleaned or shortened name, so that no two share one
taken_name = sa.Table(
    "taken_name",
    metadata,
    sa.Column("kind", sa.Text, primary_key=True),  # peer | session
    sa.Column("name", sa.Text, primary_key=True),
    _text("original"),
)

audit = sa.Table(
    "audit",
    metadata,
    _row_id(),
    _time("at"),
    _text("actor"),
    _text("action"),
    _text("subject", default=""),
    sa.Column("detail", sa.JSON, nullable=False),
)

#: the mailbox: one strict FIFO for each (lane, key)
item = sa.Table(
    "item",
    metadata,
    _row_id(),
    _text("lane"),
    _text("key"),
    _text("dedupe"),
    _text("state"),  # ready | running | done | dead
    sa.Column("payload", sa.JSON, nullable=False),
    _count("attempts"),
    _count("epoch"),
    _text("error", default=""),
    _time("run_at"),
    _time("created_at"),
    _time("finished_at", null=True),
    sa.UniqueConstraint("lane", "dedupe"),
    sa.Index(
        "ix_item_live",
        "lane",
        "key",
        "id",
        sqlite_where=sa.text("state IN ('ready', 'running')"),
        postgresql_where=sa.text("state IN ('ready', 'running')"),
    ),
)

#: what recall keeps for one asking person in one session before one audience
recall = sa.Table(
    "recall",
    metadata,
    sa.Column("session", sa.Text, primary_key=True),
    sa.Column("peer", sa.Text, primary_key=True),
    sa.Column("audience", sa.Text, primary_key=True),
    #: the identity rules under which it was fetched; under others it is not used
    _text("revision"),
    #: this person's turns in the session
    _count("turns"),
    #: the layer in force, and the turn after which it was fetched
    sa.Column("base", sa.JSON, nullable=True),
    _count("base_turn"),
    #: fetched for the next turn, which takes them away
    sa.Column("next_base", sa.JSON, nullable=True),
    _count("next_base_turn"),
    _text("next_dialectic", null=True),
    _count("next_dialectic_turn"),
    #: cadence of the dialectic
    sa.Column("asked_turn", sa.Integer, nullable=True),
    _count("empties"),
    _time("updated_at"),
)
