"""The tables of the audit. The migration puts triggers on ``audit``: no row is ever changed, and
none is deleted but those up to the anchor.
"""

from __future__ import annotations

import sqlalchemy as sa

from gateway.store.columns import metadata, row_id, text, time

audit = sa.Table(
    "audit",
    metadata,
    row_id(),
    sa.Column("seq", sa.BigInteger, nullable=False, unique=True),
    time("at"),
    #: ``command line`` and the like, or a person's keyed hash
    text("actor"),
    text("action"),
    #: a thing (``part:7``), or a person's keyed hash
    text("subject", default=""),
    sa.Column("detail", sa.JSON, nullable=False),
    text("hash"),
    sa.Index(None, "subject"),
)

#: the key that a person's hashes are made with; who is erased loses it
audit_key = sa.Table(
    "audit_key",
    metadata,
    sa.Column("person", sa.Text, primary_key=True),
    sa.Column("key", sa.LargeBinary, nullable=False),
)

#: one row: where the chain ends now, and where it begins since old rows were dropped
audit_head = sa.Table(
    "audit_head",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    text("hash"),
    sa.Column("anchor_seq", sa.BigInteger, nullable=False),
    text("anchor_hash"),
)
