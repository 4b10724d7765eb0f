"""Who is who: the history of the identity keys, and what an account is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the history; accounts that were seen before count as people."""
    op.create_table(
        "identity_change",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("revision_before", sa.Text(), nullable=False),
        sa.Column("revision_after", sa.Text(), nullable=False),
        sa.Column("edits", sa.JSON(), nullable=False),
        sa.Column("undoes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_change")),
    )
    op.create_index(op.f("ix_identity_change_at"), "identity_change", ["at"], unique=False)
    with op.batch_alter_table("person") as batch:
        batch.add_column(sa.Column("kind", sa.Text(), server_default="person", nullable=False))
        batch.add_column(sa.Column("alternatives", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Drop them."""
    with op.batch_alter_table("person") as batch:
        batch.drop_column("alternatives")
        batch.drop_column("kind")
    op.drop_table("identity_change")
