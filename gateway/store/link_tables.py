"""The tables of links: which accounts their own people joined, and requests to do so."""

from __future__ import annotations

import sqlalchemy as sa

from gateway.store.columns import RowId, count, metadata, text, time

#: an account that is one person with another, the *anchor*, which hangs on none itself
link = sa.Table(
    "link",
    metadata,
    sa.Column("platform", sa.Text, primary_key=True),
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    text("anchor_platform"),
    text("anchor_scope", default=""),
    text("anchor_user_id", default=""),
    text("request"),
    time("since"),
    sa.Index(None, "anchor_platform", "anchor_scope", "anchor_user_id"),
)

#: one wish to join two accounts; its code and its number are derived from the home's secret
link_request = sa.Table(
    "link_request",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    text("platform"),
    text("scope", default=""),
    text("user_id", default=""),
    #: the ``/link`` that asked for it
    sa.Column("inbox", RowId, nullable=False),
    text("language"),
    text("code_hash"),
    text("state"),  # waiting | entered | approval | done | cancelled
    text("other_platform", default=""),
    text("other_scope", default=""),
    text("other_user_id", default=""),
    #: the ``/link CODE`` that answered it
    sa.Column("other_inbox", RowId, nullable=True),
    text("other_language", default=""),
    count("wrong"),
    time("created_at"),
    time("expires_at"),
    sa.Index(None, "state"),
)
