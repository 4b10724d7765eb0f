"""The files that people send."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table of files."""
    op.create_table(
        "file",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("turn", sa.Text(), nullable=False),
        sa.Column("message_id", ROW_ID, nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("mime", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("problem", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["message_id"], ["message.id"], name=op.f("fk_file_message_id")),
        sa.ForeignKeyConstraint(
            ["turn"], ["turn.id"], name=op.f("fk_file_turn"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file")),
        sa.UniqueConstraint("message_id", "ordinal", name=op.f("uq_file_message_id_ordinal")),
    )
    op.create_index(op.f("ix_file_turn"), "file", ["turn"], unique=False)
    op.create_index(op.f("ix_file_created_at"), "file", ["created_at"], unique=False)


def downgrade() -> None:
    """Take it away again; the files themselves stay where they are."""
    op.drop_table("file")
