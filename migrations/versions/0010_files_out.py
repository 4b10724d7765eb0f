"""Parts that are files of ours."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Let a part name a row of ``file``."""
    op.add_column("outbox", sa.Column("file", ROW_ID, nullable=True))


def downgrade() -> None:
    """Forget which parts are files; those that are not delivered are empty then."""
    op.drop_column("outbox", "file")
