"""Crashes counted apart from tries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the count; what was counted as tries so far stays counted so."""
    op.add_column("item", sa.Column("crashes", sa.Integer(), server_default="0", nullable=False))


def downgrade() -> None:
    """Drop the count."""
    op.drop_column("item", "crashes")
