"""Erasures that go on elsewhere, and digests of erased events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "erased_event",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_erased_event")),
    )
    op.create_table(
        "erasure",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasure")),
    )


def downgrade() -> None:
    """Drop them: redeliveries of erased events are new ones again."""
    op.drop_table("erasure")
    op.drop_table("erased_event")
