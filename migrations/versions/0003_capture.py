"""What sending the ledger to the memory service has to remember."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_OPEN = sa.text("state IN ('held', 'due', 'sending')")


def upgrade() -> None:
    """Add the columns, the index of open rows and the members of sessions."""
    op.add_column(
        "ledger", sa.Column("attempts", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column("ledger", sa.Column("look_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("ledger", sa.Column("part_limit", sa.Integer(), nullable=True))
    op.create_index(
        "ix_ledger_open",
        "ledger",
        ["session", "seq"],
        unique=False,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )
    op.add_column("session", sa.Column("replaced_by", sa.Text(), nullable=True))
    op.create_table(
        "session_member",
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("peer", sa.Text(), nullable=False),
        sa.Column("observe_me", sa.Boolean(), nullable=True),
        sa.Column("observe_others", sa.Boolean(), nullable=True),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session"], ["session.id"], name=op.f("fk_session_member_session")
        ),
        sa.PrimaryKeyConstraint("session", "peer", name=op.f("pk_session_member")),
    )


def downgrade() -> None:
    """Take them away again."""
    op.drop_table("session_member")
    op.drop_column("session", "replaced_by")
    op.drop_index("ix_ledger_open", table_name="ledger")
    op.drop_column("ledger", "part_limit")
    op.drop_column("ledger", "look_at")
    op.drop_column("ledger", "attempts")
