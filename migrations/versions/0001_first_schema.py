"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "access_grant",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("admin", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("granted_by", sa.Text(), nullable=False),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "scope", "user_id", name=op.f("pk_access_grant")),
    )
    op.create_table(
        "audit",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_table(
        "conversation",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("place_kind", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("participant", sa.Text(), nullable=True),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("sessions", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_activity", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_conversation")),
    )
    op.create_index(
        op.f("ix_conversation_platform_account_place"),
        "conversation",
        ["platform", "account", "place"],
        unique=False,
    )
    op.create_table(
        "fact",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_fact")),
    )
    op.create_table(
        "item",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("dedupe", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("epoch", sa.Integer(), server_default="0", nullable=False),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.Column("run_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item")),
        sa.UniqueConstraint("lane", "dedupe", name=op.f("uq_item_lane_dedupe")),
    )
    op.create_index(
        "ix_item_live",
        "item",
        ["lane", "key", "id"],
        unique=False,
        sqlite_where=sa.text("state IN ('ready', 'running')"),
        postgresql_where=sa.text("state IN ('ready', 'running')"),
    )
    op.create_table(
        "message",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("turn", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), server_default="", nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("stored_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_message")),
    )
    op.create_index(op.f("ix_message_session_id"), "message", ["session", "id"], unique=False)
    op.create_index(op.f("ix_message_turn"), "message", ["turn"], unique=False)
    op.create_table(
        "outbox",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("turn", sa.Text(), nullable=True),
        sa.Column("ordinal", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("reply_to", sa.Text(), nullable=True),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("sent_message", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.Column("degraded", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint("key", name=op.f("uq_outbox_key")),
    )
    op.create_index(op.f("ix_outbox_state"), "outbox", ["state"], unique=False)
    op.create_index(op.f("ix_outbox_turn"), "outbox", ["turn"], unique=False)
    op.create_table(
        "pairing",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), server_default="", nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), server_default="", nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("code_hash", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pairing")),
    )
    op.create_index(
        op.f("ix_pairing_platform_state"), "pairing", ["platform", "state"], unique=False
    )
    op.create_table(
        "person",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("language", sa.Text(), server_default="", nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "scope", "user_id", name=op.f("pk_person")),
    )
    op.create_table(
        "place",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("moved_to", sa.Text(), nullable=True),
        sa.Column("moved_from", sa.Text(), nullable=True),
        sa.Column("unreachable_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_message", sa.Text(), server_default="", nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "account", "place", name=op.f("pk_place")),
    )
    op.create_table(
        "recall",
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("peer", sa.Text(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("turns", sa.Integer(), server_default="0", nullable=False),
        sa.Column("base", sa.JSON(), nullable=True),
        sa.Column("base_turn", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_base", sa.JSON(), nullable=True),
        sa.Column("next_base_turn", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_dialectic", sa.Text(), nullable=True),
        sa.Column("next_dialectic_turn", sa.Integer(), server_default="0", nullable=False),
        sa.Column("asked_turn", sa.Integer(), nullable=True),
        sa.Column("empties", sa.Integer(), server_default="0", nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("session", "peer", "audience", name=op.f("pk_recall")),
    )
    op.create_table(
        "session",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("peer", sa.Text(), nullable=True),
        sa.Column("last_seq", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_saved_index", sa.Integer(), server_default="0", nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("close_reason", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session")),
        sa.UniqueConstraint(
            "conversation", "ordinal", name=op.f("uq_session_conversation_ordinal")
        ),
    )
    op.create_table(
        "set_aside",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("number", sa.Text(), nullable=False),
        sa.Column("fault", sa.Text(), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_set_aside")),
        sa.UniqueConstraint(
            "platform", "account", "number", name=op.f("uq_set_aside_platform_account_number")
        ),
    )
    op.create_table(
        "taken_name",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("original", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "name", name=op.f("pk_taken_name")),
    )
    op.create_table(
        "turn",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("peer", sa.Text(), nullable=False),
        sa.Column("rung", sa.Text(), nullable=False),
        sa.Column("identity", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("stop_requested", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("scope", sa.Text(), server_default="", nullable=False),
        sa.Column("user_id", sa.Text(), server_default="", nullable=False),
        sa.Column("reply_to", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), server_default="en", nullable=False),
        sa.Column("usage", sa.JSON(), nullable=True),
        sa.Column("recall", sa.JSON(), nullable=True),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turn")),
    )
    op.create_index(op.f("ix_turn_conversation_id"), "turn", ["conversation", "id"], unique=False)
    op.create_index(op.f("ix_turn_state"), "turn", ["state"], unique=False)
    op.create_table(
        "checkpoint",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("turn", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn"], ["turn.id"], name=op.f("fk_checkpoint_turn"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_checkpoint")),
    )
    op.create_index(op.f("ix_checkpoint_turn_id"), "checkpoint", ["turn", "id"], unique=False)
    op.create_table(
        "inbox",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), server_default="", nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("conversation", sa.Text(), nullable=True),
        sa.Column("turn", sa.Text(), nullable=True),
        sa.Column("message_id", ROW_ID, nullable=True),
        sa.Column("event", sa.JSON(), nullable=True),
        sa.Column("raw", sa.LargeBinary(), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["message_id"], ["message.id"], name=op.f("fk_inbox_message_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_inbox")),
        sa.UniqueConstraint(
            "platform",
            "account",
            "place",
            "message",
            "revision",
            name=op.f("uq_inbox_platform_account_place_message_revision"),
        ),
    )
    op.create_index(op.f("ix_inbox_received_at"), "inbox", ["received_at"], unique=False)
    op.create_index(op.f("ix_inbox_turn"), "inbox", ["turn"], unique=False)
    op.create_table(
        "ledger",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("peer", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("message_id", ROW_ID, nullable=False),
        sa.Column("turn", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["message_id"], ["message.id"], name=op.f("fk_ledger_message_id")),
        sa.ForeignKeyConstraint(["session"], ["session.id"], name=op.f("fk_ledger_session")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger")),
        sa.UniqueConstraint("key", name=op.f("uq_ledger_key")),
        sa.UniqueConstraint("session", "seq", name=op.f("uq_ledger_session_seq")),
    )
    op.create_index(op.f("ix_ledger_state"), "ledger", ["state"], unique=False)
    op.create_index(op.f("ix_ledger_turn"), "ledger", ["turn"], unique=False)
    op.create_table(
        "turn_step",
        sa.Column("turn", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn"], ["turn.id"], name=op.f("fk_turn_step_turn"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("turn", "ordinal", name=op.f("pk_turn_step")),
    )


def downgrade() -> None:
    """Drop all tables."""
    op.drop_table("turn_step")
    op.drop_index(op.f("ix_ledger_turn"), table_name="ledger")
    op.drop_index(op.f("ix_ledger_state"), table_name="ledger")
    op.drop_table("ledger")
    op.drop_index(op.f("ix_inbox_turn"), table_name="inbox")
    op.drop_index(op.f("ix_inbox_received_at"), table_name="inbox")
    op.drop_table("inbox")
    op.drop_index(op.f("ix_checkpoint_turn_id"), table_name="checkpoint")
    op.drop_table("checkpoint")
    op.drop_index(op.f("ix_turn_state"), table_name="turn")
    op.drop_index(op.f("ix_turn_conversation_id"), table_name="turn")
    op.drop_table("turn")
    op.drop_table("taken_name")
    op.drop_table("set_aside")
    op.drop_table("session")
    op.drop_table("recall")
    op.drop_table("place")
    op.drop_table("person")
    op.drop_index(op.f("ix_pairing_platform_state"), table_name="pairing")
    op.drop_table("pairing")
    op.drop_index(op.f("ix_outbox_turn"), table_name="outbox")
    op.drop_index(op.f("ix_outbox_state"), table_name="outbox")
    op.drop_table("outbox")
    op.drop_index(op.f("ix_message_turn"), table_name="message")
    op.drop_index(op.f("ix_message_session_id"), table_name="message")
    op.drop_table("message")
    op.drop_index(
        "ix_item_live",
        table_name="item",
        sqlite_where=sa.text("state IN ('ready', 'running')"),
        postgresql_where=sa.text("state IN ('ready', 'running')"),
    )
    op.drop_table("item")
    op.drop_table("fact")
    op.drop_index(op.f("ix_conversation_platform_account_place"), table_name="conversation")
    op.drop_table("conversation")
    op.drop_table("audit")
    op.drop_table("access_grant")
