"""Links that people make themselves, and the requests for them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "link",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("anchor_platform", sa.Text(), nullable=False),
        sa.Column("anchor_scope", sa.Text(), server_default="", nullable=False),
        sa.Column("anchor_user_id", sa.Text(), server_default="", nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "scope", "user_id", name=op.f("pk_link")),
    )
    op.create_index(
        op.f("ix_link_anchor_platform_anchor_scope_anchor_user_id"),
        "link",
        ["anchor_platform", "anchor_scope", "anchor_user_id"],
        unique=False,
    )
    op.create_table(
        "link_request",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), server_default="", nullable=False),
        sa.Column("user_id", sa.Text(), server_default="", nullable=False),
        sa.Column("inbox", ROW_ID, nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("code_hash", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("other_platform", sa.Text(), server_default="", nullable=False),
        sa.Column("other_scope", sa.Text(), server_default="", nullable=False),
        sa.Column("other_user_id", sa.Text(), server_default="", nullable=False),
        sa.Column("other_inbox", ROW_ID, nullable=True),
        sa.Column("other_language", sa.Text(), server_default="", nullable=False),
        sa.Column("wrong", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_link_request")),
    )
    op.create_index(op.f("ix_link_request_state"), "link_request", ["state"], unique=False)


def downgrade() -> None:
    """Drop them: linked accounts are persons of their own again."""
    op.drop_table("link_request")
    op.drop_table("link")
