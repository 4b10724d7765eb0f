"""The tables of the built-in memory, beside those of ``tables``.

The full-text index is not among them: each dialect makes its own, see ``search_index``.
"""

from __future__ import annotations

import sqlalchemy as sa

from gateway.store.columns import metadata, text, time

#: what the memory files said when a session began; the prompt repeats these bytes
snapshot = sa.Table(
    "snapshot",
    metadata,
    sa.Column("session", sa.Text, primary_key=True),
    sa.Column("peer", sa.Text, primary_key=True),
    sa.Column("audience", sa.Text, primary_key=True),
    text("text"),
    time("taken_at"),
    sa.Index(None, "peer"),
)

#: writes to the memory files that wait for their person's yes
memory_write = sa.Table(
    "memory_write",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    text("peer"),
    text("file"),  # memory | user
    text("action"),  # add | replace | remove
    text("content", default=""),
    text("old_text", default=""),
    text("state"),  # waiting | approved | rejected
    time("asked_at"),
    time("decided_at", null=True),
    sa.Index(None, "peer", "state"),
)
