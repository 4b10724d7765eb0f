"""The tables of the embedded memory service."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "memory_membership",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("peer", sa.Text(), nullable=False),
        sa.Column("observe_me", sa.Boolean(), nullable=True),
        sa.Column("observe_others", sa.Boolean(), nullable=True),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "session", "peer", name=op.f("pk_memory_membership")),
    )
    op.create_index(
        op.f("ix_memory_membership_workspace_peer"),
        "memory_membership",
        ["workspace", "peer"],
        unique=False,
    )
    op.create_table(
        "memory_message",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("public_id", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("peer", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("metadata", DOCUMENT, nullable=False),
        sa.Column("token_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_message")),
        sa.UniqueConstraint("public_id", name=op.f("uq_memory_message_public_id")),
        sa.UniqueConstraint(
            "workspace", "session", "seq", name=op.f("uq_memory_message_workspace_session_seq")
        ),
    )
    op.create_index(
        op.f("ix_memory_message_workspace_peer_id"),
        "memory_message",
        ["workspace", "peer", "id"],
        unique=False,
    )
    op.create_table(
        "memory_pair",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("observer", sa.Text(), nullable=False),
        sa.Column("observed", sa.Text(), nullable=False),
        sa.Column("card", DOCUMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_pair")),
        sa.UniqueConstraint(
            "workspace",
            "observer",
            "observed",
            name=op.f("uq_memory_pair_workspace_observer_observed"),
        ),
    )
    op.create_table(
        "memory_peer",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("metadata", DOCUMENT, nullable=False),
        sa.Column("configuration", DOCUMENT, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "id", name=op.f("pk_memory_peer")),
    )
    op.create_table(
        "memory_session",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("metadata", DOCUMENT, nullable=False),
        sa.Column("configuration", DOCUMENT, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seq", sa.Integer(), server_default="0", nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("workspace", "id", name=op.f("pk_memory_session")),
    )
    op.create_table(
        "memory_summary",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("token_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "session", "kind", name=op.f("pk_memory_summary")),
    )
    op.create_table(
        "memory_workspace",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("metadata", DOCUMENT, nullable=False),
        sa.Column("configuration", DOCUMENT, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_workspace")),
    )
    op.create_table(
        "memory_conclusion",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("public_id", sa.Text(), nullable=False),
        sa.Column("pair", ROW_ID, nullable=False),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["pair"], ["memory_pair.id"], name=op.f("fk_memory_conclusion_pair")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_conclusion")),
        sa.UniqueConstraint("public_id", name=op.f("uq_memory_conclusion_public_id")),
    )
    op.create_index(
        op.f("ix_memory_conclusion_pair_id"), "memory_conclusion", ["pair", "id"], unique=False
    )
    op.create_table(
        "memory_observation",
        sa.Column("pair", ROW_ID, nullable=False),
        sa.Column("message", ROW_ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["message"], ["memory_message.id"], name=op.f("fk_memory_observation_message")
        ),
        sa.ForeignKeyConstraint(
            ["pair"], ["memory_pair.id"], name=op.f("fk_memory_observation_pair")
        ),
        sa.PrimaryKeyConstraint("pair", "message", name=op.f("pk_memory_observation")),
    )
    op.create_index(
        op.f("ix_memory_observation_message"), "memory_observation", ["message"], unique=False
    )


def downgrade() -> None:
    """Drop the tables."""
    op.drop_index(op.f("ix_memory_observation_message"), table_name="memory_observation")
    op.drop_table("memory_observation")
    op.drop_index(op.f("ix_memory_conclusion_pair_id"), table_name="memory_conclusion")
    op.drop_table("memory_conclusion")
    op.drop_table("memory_workspace")
    op.drop_table("memory_summary")
    op.drop_table("memory_session")
    op.drop_table("memory_peer")
    op.drop_table("memory_pair")
    op.drop_index(op.f("ix_memory_message_workspace_peer_id"), table_name="memory_message")
    op.drop_table("memory_message")
    op.drop_index(op.f("ix_memory_membership_workspace_peer"), table_name="memory_membership")
    op.drop_table("memory_membership")
