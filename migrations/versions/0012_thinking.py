"""The embedded memory thinks: evidence, replaced conclusions, vectors, costs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add them; what was said before waits to be thought about."""
    op.add_column(
        "memory_observation",
        sa.Column("waiting", sa.Boolean(), server_default=sa.true(), nullable=False),
    )
    op.create_index(
        "ix_memory_observation_waiting",
        "memory_observation",
        ["pair", "message"],
        sqlite_where=sa.text("waiting"),
        postgresql_where=sa.text("waiting"),
    )
    for column in (
        sa.Column("origin", sa.Text(), server_default="hand", nullable=False),
        sa.Column("lasting", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("replaced_by", ROW_ID, nullable=True),
    ):
        op.add_column("memory_conclusion", column)
    op.create_index(op.f("ix_memory_conclusion_replaced_by"), "memory_conclusion", ["replaced_by"])
    op.create_table(
        "memory_evidence",
        sa.Column("conclusion", ROW_ID, nullable=False),
        sa.Column("message", ROW_ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["conclusion"], ["memory_conclusion.id"], name=op.f("fk_memory_evidence_conclusion")
        ),
        sa.ForeignKeyConstraint(
            ["message"], ["memory_message.id"], name=op.f("fk_memory_evidence_message")
        ),
        sa.PrimaryKeyConstraint("conclusion", "message", name=op.f("pk_memory_evidence")),
    )
    op.create_index(op.f("ix_memory_evidence_message"), "memory_evidence", ["message"])
    op.create_table(
        "memory_vector",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("item", ROW_ID, autoincrement=False, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "item", name=op.f("pk_memory_vector")),
    )
    op.create_table(
        "memory_cost",
        sa.Column("hour", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("calls", sa.Integer(), server_default="0", nullable=False),
        sa.Column("input_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("output_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("hour", "kind", name=op.f("pk_memory_cost")),
    )


def downgrade() -> None:
    """Forget what was thought; what was said stays."""
    op.execute("DELETE FROM memory_conclusion WHERE origin <> 'hand'")
    op.drop_table("memory_cost")
    op.drop_table("memory_vector")
    op.drop_table("memory_evidence")
    op.drop_index("ix_memory_observation_waiting", "memory_observation")
    op.drop_index(op.f("ix_memory_conclusion_replaced_by"), "memory_conclusion")
    op.drop_column("memory_observation", "waiting")
    for name in ("replaced_by", "lasting", "origin"):
        op.drop_column("memory_conclusion", name)
