"""Tables about who is who; part of the schema of ``gateway.store.tables``."""

from __future__ import annotations

import sqlalchemy as sa

from gateway.store.columns import RowId, count, flag, metadata, row_id, text, time

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

#: memory that follows a change of identity, or moves into another service: durable, one at a time
rehome_job = sa.Table(
    "rehome_job",
    metadata,
    row_id(),
    text("kind"),  # follow | purge | replay
    text("state"),  # waiting | running | done
    text("actor"),
    text("reason", default=""),
    #: whose memory (None: everybody's), with shared sessions or without
    sa.Column("people", sa.JSON, nullable=True),
    flag("groups"),
    count("sessions_total"),
    count("sessions_done"),
    count("messages_total"),
    count("messages_done"),
    count("requests"),
    #: replay: the session being carried over, and how far
    text("at_session", default=""),
    count("at_seq"),
    #: what could not be carried over, and what was set aside, one line each
    sa.Column("notes", sa.JSON, nullable=False),
    text("error", default=""),
    time("created_at"),
    time("updated_at"),
    time("finished_at", null=True),
)

#: where a session of ours stands at the memory service, besides under its own name
session_home = sa.Table(
    "session_home",
    metadata,
    row_id(),
    sa.Column("source", sa.Text, sa.ForeignKey("session.id"), nullable=False),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    #: author → peer under which the author's words stand there
    sa.Column("peers", sa.JSON, nullable=False),
    text("signature"),
    text("state"),  # copying | active | kept | dropped
    #: the last position that is there, and the last of those handed over and not acknowledged
    count("copied"),
    sa.Column("flight", sa.Integer, nullable=True),
    time("look_at", null=True),
    #: the limit by which its messages are cut
    sa.Column("part_limit", sa.Integer, nullable=False),
    time("created_at"),
    sa.Index(None, "source"),
)

#: what the agent or an operator wrote down about somebody by hand: no message holds it
hand_note = sa.Table(
    "hand_note",
    metadata,
    row_id(),
    text("kind"),  # conclusion | facts | card | file
    #: who holds the view; of a file: which one
    text("observer"),
    #: who it was written about, and who it is about since memory followed
    text("observed"),
    text("holder"),
    sa.Column("session", sa.Text, nullable=True),
    sa.Column("content", sa.JSON, nullable=False),
    #: the conclusion's id at the service, as written and as it stands now
    text("ref", default=""),
    text("held_ref", default=""),
    time("at"),
    sa.Index(None, "observed"),
    sa.Index(None, "holder"),
)
