"""The built-in memory: snapshots, writes that wait for a yes, and the full-text index."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

#: only words come in, cut and folded by the application: ASCII separators are all there are
FTS5 = """
CREATE VIRTUAL TABLE search_index USING fts5(body, tags, content='', tokenize='ascii')
"""
TSVECTOR = "CREATE TABLE search_index (message BIGINT PRIMARY KEY, words TSVECTOR NOT NULL)"
GIN = "CREATE INDEX ix_search_index_words ON search_index USING GIN (words)"


def upgrade() -> None:
    """Create the tables; ``hermes-gateway search --rebuild`` indexes what was said before."""
    op.create_table(
        "snapshot",
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("peer", sa.Text(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("session", "peer", "audience", name=op.f("pk_snapshot")),
    )
    op.create_index(op.f("ix_snapshot_peer"), "snapshot", ["peer"], unique=False)
    op.create_table(
        "memory_write",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("peer", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), server_default="", nullable=False),
        sa.Column("old_text", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_write")),
    )
    op.create_index(
        op.f("ix_memory_write_peer_state"), "memory_write", ["peer", "state"], unique=False
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(FTS5)
    else:
        op.execute(TSVECTOR)
        op.execute(GIN)


def downgrade() -> None:
    """Drop them; the messages stay, and the memory files."""
    op.execute("DROP TABLE search_index")
    op.drop_table("memory_write")
    op.drop_table("snapshot")
