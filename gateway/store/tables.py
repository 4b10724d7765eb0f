"""The schema, for both dialects.

A change here needs a migration; ``tests/contract/store`` compares the two.
"""

from __future__ import annotations

import sqlalchemy as sa

from gateway.store.columns import RowId, count, flag, row_id, text, time
from gateway.store.columns import metadata as metadata
from gateway.store.packed import PackedJson

#: all that was said, once; every other table points here
message = sa.Table(
    "message",
    metadata,
    row_id(),
    sa.Column("session_number", sa.Integer, sa.ForeignKey("session.number"), nullable=True),
    text("turn", null=True),
    text("role"),  # user | assistant | edit
    text("author", default=""),
    text("text"),
    time("sent_at"),
    sa.Index(None, "session_number", "id"),
    sa.Index(None, "turn"),
)

#: one row for each event of a platform; its key outlives its text, so redelivery stays silent
inbox = sa.Table(
    "inbox",
    metadata,
    row_id(),
    text("platform"),
    text("account"),
    text("place"),
    text("message"),
    text("revision", default=""),
    text("kind"),
    text("state"),
    text("reason", default=""),
    text("conversation", null=True),
    text("turn", null=True),
    sa.Column("message_id", RowId, sa.ForeignKey("message.id"), nullable=True),
    #: without its text; gone once what it led to is long done
    sa.Column("event", sa.JSON(none_as_null=True), nullable=True),
    sa.Column("raw", sa.LargeBinary, nullable=True),
    time("sent_at"),
    time("received_at"),
    sa.UniqueConstraint("platform", "account", "place", "message", "revision"),
    sa.Index(None, "turn"),
    sa.Index(None, "received_at"),
)

#: updates that could not be parsed: kept whole until an operator looks
set_aside = sa.Table(
    "set_aside",
    metadata,
    row_id(),
    text("platform"),
    text("account"),
    text("number"),
    text("fault"),
    sa.Column("raw", sa.LargeBinary, nullable=False),
    time("received_at"),
    sa.UniqueConstraint("platform", "account", "number"),
)

turn = sa.Table(
    "turn",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("session_number", sa.Integer, sa.ForeignKey("session.number"), nullable=False),
    text("peer"),
    text("rung"),
    sa.Column("identity", PackedJson, nullable=False),
    text("state"),
    count("attempt"),
    flag("stop_requested"),
    text("platform"),
    text("account"),
    text("place"),
    text("thread", null=True),
    text("scope", default=""),
    text("user_id", default=""),
    text("reply_to"),
    text("language", default="en"),
    sa.Column("usage", PackedJson, nullable=True),
    #: what was recalled: with its text until the turn is closed, then only which layers
    sa.Column("recall", PackedJson, nullable=True),
    text("error", default=""),
    time("created_at"),
    time("updated_at"),
    sa.Index(None, "session_number", "id"),
    sa.Index(None, "state"),
)

#: every arrow of the state machine, for the trace
checkpoint = sa.Table(
    "checkpoint",
    metadata,
    row_id(),
    sa.Column("turn", sa.Text, sa.ForeignKey("turn.id", ondelete="CASCADE"), nullable=False),
    text("step"),
    text("status"),
    count("attempt"),
    text("detail", default=""),
    time("at"),
    sa.Index(None, "turn", "id"),
)

#: committed model steps of a turn that is not answered yet
turn_step = sa.Table(
    "turn_step",
    metadata,
    sa.Column("turn", sa.Text, sa.ForeignKey("turn.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    text("step"),
)

#: files that people sent with a turn, and those that answers carry; their content lies in the
#: home's folder of files
file = sa.Table(
    "file",
    metadata,
    row_id(),
    sa.Column("turn", sa.Text, sa.ForeignKey("turn.id", ondelete="CASCADE"), nullable=False),
    sa.Column("message_id", RowId, sa.ForeignKey("message.id"), nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    text("kind"),
    text("label"),
    text("mime"),
    sa.Column("size", sa.BigInteger, nullable=True),
    text("name"),
    text("state"),  # waiting | ready | failed | dropped
    text("problem", default=""),
    time("created_at"),
    sa.UniqueConstraint("message_id", "ordinal"),
    sa.Index(None, "turn"),
    sa.Index(None, "created_at"),
)

outbox = sa.Table(
    "outbox",
    metadata,
    row_id(),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    text("turn", null=True),
    count("ordinal"),
    flag("last"),
    text("platform"),
    text("account"),
    text("place"),
    text("thread", null=True),
    text("reply_to", null=True),
    text("purpose"),  # answer | notice | pairing
    #: the part's text with its ranges; dropped once the part is delivered
    sa.Column("content", sa.JSON, nullable=True),
    #: the part is this file of ours
    sa.Column("file", RowId, nullable=True),
    text("state"),
    count("attempts"),
    text("sent_message", null=True),
    text("error", default=""),
    text("degraded", default=""),
    time("created_at"),
    time("updated_at"),
    sa.Index(None, "turn"),
    sa.Index(None, "state"),
)

#: each message on its way to memory; its key there is made of its turn's and its own id, and so
#: stands before the first attempt
ledger = sa.Table(
    "ledger",
    metadata,
    row_id(),
    sa.Column("session_number", sa.Integer, sa.ForeignKey("session.number"), nullable=False),
    sa.Column("seq", sa.Integer, nullable=False),
    text("peer"),
    sa.Column("message_id", RowId, sa.ForeignKey("message.id"), nullable=False, unique=True),
    #: held (waits for a delivery) | due | sending | saved | parked | skipped
    text("state"),
    text("reason", default=""),
    #: sends after which the service did not have it
    count("attempts"),
    #: sending: when the service can be asked what became of it
    time("look_at", null=True),
    #: the limit by which it was cut at its first send
    sa.Column("part_limit", sa.Integer, nullable=True),
    time("created_at"),
    sa.UniqueConstraint("session_number", "seq"),
    sa.Index(None, "state"),
    sa.Index(
        "ix_ledger_open",
        "session_number",
        "seq",
        sqlite_where=sa.text("state IN ('held', 'due', 'sending')"),
        postgresql_where=sa.text("state IN ('held', 'due', 'sending')"),
    ),
)

conversation = sa.Table(
    "conversation",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    text("platform"),
    text("account"),
    text("place_kind"),
    text("place"),
    text("thread", null=True),
    text("participant", null=True),
    text("session", null=True),
    text("title", default=""),
    count("sessions"),
    time("created_at"),
    time("last_activity", null=True),
    sa.Index(None, "platform", "account", "place"),
)

session = sa.Table(
    "session",
    metadata,
    #: what messages, turns and ledger rows have in place of the name; never given out again
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    text("conversation"),
    sa.Column("ordinal", sa.Integer, nullable=False),
    #: the person of a personal conversation; a change opens a new session
    text("peer", null=True),
    count("last_seq"),
    count("last_saved_index"),
    time("opened_at"),
    time("closed_at", null=True),
    text("close_reason", default=""),
    #: where its rows go since the memory service lost it
    text("replaced_by", null=True),
    sa.UniqueConstraint("conversation", "ordinal"),
    sqlite_autoincrement=True,
)

#: who was made a member of a memory session, with the flags as the service has them
session_member = sa.Table(
    "session_member",
    metadata,
    sa.Column("session", sa.Text, sa.ForeignKey("session.id"), primary_key=True),
    sa.Column("peer", sa.Text, primary_key=True),
    sa.Column("observe_me", sa.Boolean, nullable=True),
    sa.Column("observe_others", sa.Boolean, nullable=True),
    time("opened_at"),
)

place = sa.Table(
    "place",
    metadata,
    sa.Column("platform", sa.Text, primary_key=True),
    sa.Column("account", sa.Text, primary_key=True),
    sa.Column("place", sa.Text, primary_key=True),
    text("kind"),
    text("title", default=""),
    text("moved_to", null=True),
    text("moved_from", null=True),
    time("unreachable_at", null=True),
    text("last_message", default=""),
    time("last_seen"),
)

person = sa.Table(
    "person",
    metadata,
    sa.Column("platform", sa.Text, primary_key=True),
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    text("kind", default="person"),  # as SenderKind
    text("name", default=""),
    text("language", default=""),
    #: further ids of the same account
    sa.Column("alternatives", sa.JSON, nullable=True),
    time("first_seen"),
    time("last_seen"),
)

#: accounts that were let in by pairing
access_grant = sa.Table(
    "access_grant",
    metadata,
    sa.Column("platform", sa.Text, primary_key=True),
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    flag("admin"),
    text("granted_by"),
    time("granted_at"),
)

pairing = sa.Table(
    "pairing",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    text("platform"),
    text("account"),
    text("scope", default=""),
    text("user_id"),
    text("language", default=""),
    text("place"),
    text("thread", null=True),
    text("code_hash"),
    text("state"),  # waiting | approved | revoked
    time("created_at"),
    time("expires_at"),
    sa.Index(None, "platform", "state"),
)

#: single facts that the gateway must remember: cursors, the first Slack team, lock-outs
fact = sa.Table(
    "fact",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    text("value"),
    time("updated_at"),
)

#: which original text holds a cleaned or shortened name, so that no two share one
taken_name = sa.Table(
    "taken_name",
    metadata,
    sa.Column("kind", sa.Text, primary_key=True),  # peer | session
    sa.Column("name", sa.Text, primary_key=True),
    text("original"),
)

#: the mailbox: one strict FIFO for each (lane, key)
item = sa.Table(
    "item",
    metadata,
    row_id(),
    text("lane"),
    text("key"),
    text("dedupe"),
    text("state"),  # ready | running | done | dead
    sa.Column("payload", sa.JSON, nullable=False),
    count("attempts"),
    #: deaths of the process while it ran; they are no tries
    count("crashes"),
    count("epoch"),
    text("error", default=""),
    time("run_at"),
    time("created_at"),
    time("finished_at", null=True),
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
    text("revision"),
    #: this person's turns in the session
    count("turns"),
    #: the layer in force, and the turn after which it was fetched
    sa.Column("base", sa.JSON, nullable=True),
    count("base_turn"),
    #: fetched for the next turn, which takes them away
    sa.Column("next_base", sa.JSON, nullable=True),
    count("next_base_turn"),
    text("next_dialectic", null=True),
    count("next_dialectic_turn"),
    #: cadence of the dialectic
    sa.Column("asked_turn", sa.Integer, nullable=True),
    count("empties"),
    time("updated_at"),
)
