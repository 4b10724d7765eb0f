"""Tables about who is who; part of the schema of ``gateway.store.tables``."""

from __future__ import annotations

import sqlalchemy as sa

from gateway.store.columns import RowId, metadata, row_id, text, time

#: each change of the identity keys, by whichever way it was made
identity_change = sa.Table(
    "identity_change",
    metadata,
    row_id(),
    text("state"),  # writing | done | failed
    text("actor"),
    text("reason", default=""),
    text("revision_before"),
    text("revision_after"),
    #: [[path, before, after], …]
    sa.Column("edits", sa.JSON, nullable=False),
    #: the change that this one took back
    sa.Column("undoes", RowId, nullable=True),
    time("at"),
    sa.Index(None, "at"),
)
