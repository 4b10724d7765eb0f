"""Memory follows identity: jobs, where sessions stand at the service, notes made by hand."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def _row_id() -> sa.Column[int]:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column("id", number, autoincrement=True, nullable=False)


def _text(name: str, *, default: str | None = None, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default=default, nullable=null)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), server_default="0", nullable=False)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "rehome_job",
        _row_id(),
        _text("kind"),
        _text("state"),
        _text("actor"),
        _text("reason", default=""),
        sa.Column("people", sa.JSON(), nullable=True),
        sa.Column("groups", sa.Boolean(), server_default=sa.false(), nullable=False),
        _count("sessions_total"),
        _count("sessions_done"),
        _count("messages_total"),
        _count("messages_done"),
        _count("requests"),
        _text("at_session", default=""),
        _count("at_seq"),
        sa.Column("notes", sa.JSON(), nullable=False),
        _text("error", default=""),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rehome_job")),
    )
    op.create_table(
        "session_home",
        _row_id(),
        _text("source"),
        _text("name"),
        sa.Column("peers", sa.JSON(), nullable=False),
        _text("signature"),
        _text("state"),
        _count("copied"),
        sa.Column("flight", sa.Integer(), nullable=True),
        sa.Column("look_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("part_limit", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["session.id"], name=op.f("fk_session_home_source")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session_home")),
        sa.UniqueConstraint("name", name=op.f("uq_session_home_name")),
    )
    op.create_index(op.f("ix_session_home_source"), "session_home", ["source"], unique=False)
    op.create_table(
        "hand_note",
        _row_id(),
        _text("kind"),
        _text("observer"),
        _text("observed"),
        _text("holder"),
        _text("session", null=True),
        sa.Column("content", sa.JSON(), nullable=False),
        _text("ref", default=""),
        _text("held_ref", default=""),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hand_note")),
    )
    op.create_index(op.f("ix_hand_note_observed"), "hand_note", ["observed"], unique=False)
    op.create_index(op.f("ix_hand_note_holder"), "hand_note", ["holder"], unique=False)


def downgrade() -> None:
    """Drop them; what was copied stays at the memory service."""
    for name in ("hand_note", "session_home", "rehome_job"):
        op.drop_table(name)
