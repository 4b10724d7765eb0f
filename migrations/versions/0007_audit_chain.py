"""The audit as a chain of hashes, with persons as keyed hashes."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from datetime import UTC
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
GENESIS = "0" * 64

SQLITE_TRIGGERS = (
    "CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN"
    " SELECT RAISE(ABORT, 'rows of the audit are never changed'); END",
    "CREATE TRIGGER audit_kept BEFORE DELETE ON audit"
    " WHEN OLD.seq > (SELECT anchor_seq FROM audit_head) BEGIN"
    " SELECT RAISE(ABORT, 'rows of the audit are not deleted before their time'); END",
)
POSTGRES_TRIGGERS = (
    "CREATE FUNCTION audit_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " IF TG_OP = 'DELETE' THEN"
    " IF OLD.seq > (SELECT anchor_seq FROM audit_head) THEN"
    " RAISE EXCEPTION 'rows of the audit are not deleted before their time'; END IF;"
    " RETURN OLD; END IF;"
    " RAISE EXCEPTION 'rows of the audit are never changed'; END $$",
    "CREATE TRIGGER audit_guard BEFORE UPDATE OR DELETE ON audit"
    " FOR EACH ROW EXECUTE FUNCTION audit_guard()",
)


def upgrade() -> None:
    """Make the chain of the rows that there are; accounts in them become keyed hashes."""
    bind = op.get_bind()
    rows = bind.execute(sa.text("SELECT count(*) FROM audit")).scalar() and _old_rows(bind)
    op.drop_table("audit")
    audit = op.create_table(
        "audit",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
        sa.UniqueConstraint("seq", name=op.f("uq_audit_seq")),
    )
    op.create_index(op.f("ix_audit_subject"), "audit", ["subject"], unique=False)
    key = op.create_table(
        "audit_key",
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("person", name=op.f("pk_audit_key")),
    )
    head = op.create_table(
        "audit_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("anchor_seq", sa.BigInteger(), nullable=False),
        sa.Column("anchor_hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_head")),
    )
    chained, keys = _chain(rows or [])
    if chained:
        bind.execute(sa.insert(audit), chained)
    if keys:
        bind.execute(sa.insert(key), [{"person": who, "key": k} for who, k in keys.items()])
    last = chained[-1] if chained else {"seq": 0, "hash": GENESIS}
    ends = {"seq": last["seq"], "hash": last["hash"], "anchor_seq": 0, "anchor_hash": GENESIS}
    bind.execute(sa.insert(head).values(id=1, **ends))
    triggers = SQLITE_TRIGGERS if bind.dialect.name == "sqlite" else POSTGRES_TRIGGERS
    for statement in triggers:
        op.execute(statement)


def _old_rows(bind: sa.Connection) -> list[Any]:
    old = sa.table(
        "audit",
        sa.column("id", sa.Integer),
        sa.column("at", sa.DateTime(timezone=True)),
        sa.column("actor", sa.Text),
        sa.column("action", sa.Text),
        sa.column("subject", sa.Text),
        sa.column("detail", sa.JSON),
    )
    return list(bind.execute(sa.select(old).order_by(old.c.id)))


def _chain(rows: list[Any]) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    keys: dict[str, bytes] = {}

    def masked(who: str) -> str:
        if not who or who.startswith("part:"):
            return who
        key = keys.setdefault(who, secrets.token_bytes(32))
        return "person:" + hmac.digest(key, who.encode(), hashlib.sha256).hex()[:32]

    chained: list[dict[str, Any]] = []
    before = GENESIS
    for seq, row in enumerate(rows, 1):
        at = row.at if row.at.tzinfo else row.at.replace(tzinfo=UTC)
        actor = masked(row.actor) if ":" in row.actor else row.actor
        values = [seq, at.astimezone(UTC).isoformat(timespec="microseconds"), actor, row.action]
        values += [masked(row.subject), row.detail]
        text = json.dumps(
            [before, *values], ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )
        before = hashlib.sha256(text.encode()).hexdigest()
        chained.append(
            {
                "seq": seq,
                "at": row.at,
                "actor": actor,
                "action": row.action,
                "subject": values[4],
                "detail": row.detail,
                "hash": before,
            }
        )
    return chained, keys


def downgrade() -> None:
    """Give the rows up: their persons cannot be told any more."""
    op.drop_table("audit_head")
    op.drop_table("audit_key")
    op.drop_table("audit")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION audit_guard()")
    op.create_table(
        "audit",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
