"""The tables of erasure: what is still to be forgotten elsewhere, and keys of what was."""

from __future__ import annotations

import sqlalchemy as sa

from gateway.store.columns import metadata, text, time

#: digests of events that are erased: a redelivery of one stays silent
erased_event = sa.Table(
    "erased_event", metadata, sa.Column("digest", sa.LargeBinary, primary_key=True)
)

#: an erasure that is not done yet, with what the memory service has to forget
erasure = sa.Table(
    "erasure",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("plan", sa.JSON, nullable=False),
    text("asked_by"),
    time("started_at"),
)
