"""Sessions by number in messages, turns and the ledger; what another table says goes.

A session's name stood in a dozen columns and indexes for each turn, its conversation beside it.
The ledger repeated its message's turn, role and time, and a key that is made of the two ids.
SQLite cannot change a primary key in place: there the four tables are written anew.
"""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

#: a turn always had a session; should one be gone, its turns keep their place all the same
_LOST = """
INSERT INTO session (id, conversation, ordinal, opened_at, closed_at, close_reason)
SELECT t.session, min(t.conversation), -row_number() OVER (ORDER BY t.session),
  min(t.created_at), max(t.updated_at), 'lost'
FROM turn t WHERE t.session NOT IN (SELECT id FROM session) GROUP BY t.session
"""

_SHARED = {
    "session": "id, conversation, ordinal, peer, last_seq, last_saved_index, opened_at, closed_at,"
    " close_reason, replaced_by",
    "turn": "id, peer, rung, identity, state, attempt, stop_requested, platform, account, place,"
    " thread, scope, user_id, reply_to, language, usage, recall, error, created_at, updated_at",
    "message": "id, turn, role, author, text, sent_at",
    "ledger": "id, seq, peer, message_id, state, reason, attempts, look_at, part_limit,"
    " created_at",
}

_NEW = {
    "session": """
        number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        conversation TEXT NOT NULL,
        ordinal INTEGER NOT NULL,
        peer TEXT,
        last_seq INTEGER DEFAULT '0' NOT NULL,
        last_saved_index INTEGER DEFAULT '0' NOT NULL,
        opened_at DATETIME NOT NULL,
        closed_at DATETIME,
        close_reason TEXT DEFAULT '' NOT NULL,
        replaced_by TEXT,
        CONSTRAINT uq_session_conversation_ordinal UNIQUE (conversation, ordinal),
        CONSTRAINT uq_session_id UNIQUE (id)
    """,
    "message": """
        id INTEGER NOT NULL,
        session_number INTEGER,
        turn TEXT,
        role TEXT NOT NULL,
        author TEXT DEFAULT '' NOT NULL,
        text TEXT NOT NULL,
        sent_at DATETIME NOT NULL,
        CONSTRAINT pk_message PRIMARY KEY (id),
        CONSTRAINT fk_message_session_number
            FOREIGN KEY (session_number) REFERENCES session (number)
    """,
    "turn": """
        id TEXT NOT NULL,
        session_number INTEGER NOT NULL,
        peer TEXT NOT NULL,
        rung TEXT NOT NULL,
        identity JSON NOT NULL,
        state TEXT NOT NULL,
        attempt INTEGER DEFAULT '0' NOT NULL,
        stop_requested BOOLEAN DEFAULT 0 NOT NULL,
        platform TEXT NOT NULL,
        account TEXT NOT NULL,
        place TEXT NOT NULL,
        thread TEXT,
        scope TEXT DEFAULT '' NOT NULL,
        user_id TEXT DEFAULT '' NOT NULL,
        reply_to TEXT NOT NULL,
        language TEXT DEFAULT 'en' NOT NULL,
        usage JSON,
        recall JSON,
        error TEXT DEFAULT '' NOT NULL,
        created_at DATETIME NOT NULL,
        updated_at DATETIME NOT NULL,
        CONSTRAINT pk_turn PRIMARY KEY (id),
        CONSTRAINT fk_turn_session_number
            FOREIGN KEY (session_number) REFERENCES session (number)
    """,
    "ledger": """
        id INTEGER NOT NULL,
        session_number INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        peer TEXT NOT NULL,
        message_id INTEGER NOT NULL,
        state TEXT NOT NULL,
        reason TEXT DEFAULT '' NOT NULL,
        attempts INTEGER DEFAULT '0' NOT NULL,
        look_at DATETIME,
        part_limit INTEGER,
        created_at DATETIME NOT NULL,
        CONSTRAINT pk_ledger PRIMARY KEY (id),
        CONSTRAINT fk_ledger_message_id FOREIGN KEY (message_id) REFERENCES message (id),
        CONSTRAINT fk_ledger_session_number
            FOREIGN KEY (session_number) REFERENCES session (number),
        CONSTRAINT uq_ledger_message_id UNIQUE (message_id),
        CONSTRAINT uq_ledger_session_number_seq UNIQUE (session_number, seq)
    """,
}

_OLD = {
    "session": """
        id TEXT NOT NULL,
        conversation TEXT NOT NULL,
        ordinal INTEGER NOT NULL,
        peer TEXT,
        last_seq INTEGER DEFAULT '0' NOT NULL,
        last_saved_index INTEGER DEFAULT '0' NOT NULL,
        opened_at DATETIME NOT NULL,
        closed_at DATETIME,
        close_reason TEXT DEFAULT '' NOT NULL,
        replaced_by TEXT,
        CONSTRAINT pk_session PRIMARY KEY (id),
        CONSTRAINT uq_session_conversation_ordinal UNIQUE (conversation, ordinal)
    """,
    "message": """
        id INTEGER NOT NULL,
        conversation TEXT NOT NULL,
        session TEXT,
        turn TEXT,
        role TEXT NOT NULL,
        author TEXT DEFAULT '' NOT NULL,
        text TEXT NOT NULL,
        sent_at DATETIME NOT NULL,
        stored_at DATETIME NOT NULL,
        CONSTRAINT pk_message PRIMARY KEY (id)
    """,
    "turn": """
        id TEXT NOT NULL,
        conversation TEXT NOT NULL,
        session TEXT NOT NULL,
        peer TEXT NOT NULL,
        rung TEXT NOT NULL,
        identity JSON NOT NULL,
        state TEXT NOT NULL,
        attempt INTEGER DEFAULT '0' NOT NULL,
        stop_requested BOOLEAN DEFAULT 0 NOT NULL,
        platform TEXT NOT NULL,
        account TEXT NOT NULL,
        place TEXT NOT NULL,
        thread TEXT,
        scope TEXT DEFAULT '' NOT NULL,
        user_id TEXT DEFAULT '' NOT NULL,
        reply_to TEXT NOT NULL,
        language TEXT DEFAULT 'en' NOT NULL,
        usage JSON,
        recall JSON,
        error TEXT DEFAULT '' NOT NULL,
        created_at DATETIME NOT NULL,
        updated_at DATETIME NOT NULL,
        CONSTRAINT pk_turn PRIMARY KEY (id)
    """,
    "ledger": """
        id INTEGER NOT NULL,
        "key" TEXT NOT NULL,
        session TEXT NOT NULL,
        seq INTEGER NOT NULL,
        peer TEXT NOT NULL,
        role TEXT NOT NULL,
        message_id INTEGER NOT NULL,
        turn TEXT NOT NULL,
        state TEXT NOT NULL,
        reason TEXT DEFAULT '' NOT NULL,
        sent_at DATETIME NOT NULL,
        created_at DATETIME NOT NULL,
        attempts INTEGER DEFAULT '0' NOT NULL,
        look_at DATETIME,
        part_limit INTEGER,
        CONSTRAINT pk_ledger PRIMARY KEY (id),
        CONSTRAINT fk_ledger_message_id FOREIGN KEY (message_id) REFERENCES message (id),
        CONSTRAINT fk_ledger_session FOREIGN KEY (session) REFERENCES session (id),
        CONSTRAINT uq_ledger_key UNIQUE ("key"),
        CONSTRAINT uq_ledger_session_seq UNIQUE (session, seq)
    """,
}

#: what each table has of the others: (columns, their values, from where)
_FORTH = {
    "session": ("", "", "session t ORDER BY opened_at, rowid"),
    "message": (
        "session_number",
        "s.number",
        "message t LEFT JOIN session_anew s ON s.id = t.session",
    ),
    "turn": ("session_number", "s.number", "turn t JOIN session_anew s ON s.id = t.session"),
    "ledger": ("session_number", "s.number", "ledger t JOIN session_anew s ON s.id = t.session"),
}
_BACK = {
    "ledger": (
        'session, role, turn, sent_at, "key"',
        "s.id, m.role, m.turn, m.sent_at, m.turn || '-m' || m.id",
        "ledger t JOIN session s ON s.number = t.session_number"
        " JOIN message m ON m.id = t.message_id",
    ),
    "turn": (
        "session, conversation",
        "s.id, s.conversation",
        "turn t JOIN session s ON s.number = t.session_number",
    ),
    "message": (
        "session, conversation, stored_at",
        "s.id, coalesce(s.conversation,"
        " (SELECT i.conversation FROM inbox i WHERE i.message_id = t.id), ''), t.sent_at",
        "message t LEFT JOIN session s ON s.number = t.session_number",
    ),
    "session": ("", "", "session t ORDER BY number"),
}

#: who goes by the name of a session still
_NAMED = (("session_member", "session"), ("session_home", "source"))


def upgrade() -> None:
    """Give every session a number and put it where its name stood."""
    op.execute(_LOST)
    if op.get_bind().dialect.name == "sqlite":
        _rewrite(_NEW, _FORTH)
    else:
        _number()
    op.create_index("ix_message_session_number_id", "message", ["session_number", "id"])
    op.create_index("ix_turn_session_number_id", "turn", ["session_number", "id"])
    _open_rows("session_number")


def downgrade() -> None:
    """Write names, keys and copies out again."""
    if op.get_bind().dialect.name == "sqlite":
        _rewrite(_OLD, _BACK)
    else:
        _name()
    op.create_index("ix_message_session_id", "message", ["session", "id"])
    op.create_index("ix_turn_conversation_id", "turn", ["conversation", "id"])
    op.create_index("ix_ledger_turn", "ledger", ["turn"])
    _open_rows("session")


def _open_rows(session: str) -> None:
    op.execute(
        f"CREATE INDEX ix_ledger_open ON ledger ({session}, seq)"
        " WHERE state IN ('held', 'due', 'sending')"
    )


# --- SQLite --------------------------------------------------------------------------------------


def _rewrite(tables: dict[str, str], sources: dict[str, tuple[str, str, str]]) -> None:
    """Write the tables anew. Nothing refers to them meanwhile: foreign keys are off."""
    for table, (more, values, source) in sources.items():
        shared = _SHARED[table].split(", ")
        columns = ", ".join(filter(None, [*shared, more]))
        taken = ", ".join(filter(None, [*(f"t.{name}" for name in shared), values]))
        op.execute(f"CREATE TABLE {table}_anew ({tables[table]})")
        op.execute(f"INSERT INTO {table}_anew ({columns}) SELECT {taken} FROM {source}")
    for table in sources:
        op.execute(f"DROP TABLE {table}")
        op.execute(f"ALTER TABLE {table}_anew RENAME TO {table}")
    op.create_index("ix_message_turn", "message", ["turn"])
    op.create_index("ix_turn_state", "turn", ["state"])
    op.create_index("ix_ledger_state", "ledger", ["state"])


# --- PostgreSQL ----------------------------------------------------------------------------------


def _number() -> None:
    _let_go_of_names()
    for statement in (
        "ALTER TABLE ledger DROP CONSTRAINT fk_ledger_session",
        "ALTER TABLE session DROP CONSTRAINT pk_session, ADD COLUMN number SERIAL",
        "ALTER TABLE session ADD CONSTRAINT pk_session PRIMARY KEY (number),"
        " ADD CONSTRAINT uq_session_id UNIQUE (id)",
    ):
        op.execute(statement)
    _hold_names()
    for table in ("message", "turn", "ledger"):
        op.execute(f"ALTER TABLE {table} ADD COLUMN session_number INTEGER")
        op.execute(
            f"UPDATE {table} SET session_number = s.number"
            f" FROM session s WHERE s.id = {table}.session"
        )
        op.execute(
            f"ALTER TABLE {table} ADD CONSTRAINT fk_{table}_session_number"
            " FOREIGN KEY (session_number) REFERENCES session (number), DROP COLUMN session"
        )
    for statement in (
        "ALTER TABLE message DROP COLUMN conversation, DROP COLUMN stored_at",
        "ALTER TABLE turn DROP COLUMN conversation, ALTER COLUMN session_number SET NOT NULL",
        'ALTER TABLE ledger DROP COLUMN "key", DROP COLUMN turn, DROP COLUMN role,'
        " DROP COLUMN sent_at, ALTER COLUMN session_number SET NOT NULL,"
        " ADD CONSTRAINT uq_ledger_session_number_seq UNIQUE (session_number, seq),"
        " ADD CONSTRAINT uq_ledger_message_id UNIQUE (message_id)",
    ):
        op.execute(statement)


def _name() -> None:
    _let_go_of_names()
    for statement in (
        "ALTER TABLE message ADD COLUMN session TEXT, ADD COLUMN conversation TEXT,"
        " ADD COLUMN stored_at TIMESTAMP WITH TIME ZONE",
        "ALTER TABLE turn ADD COLUMN session TEXT, ADD COLUMN conversation TEXT",
        'ALTER TABLE ledger ADD COLUMN session TEXT, ADD COLUMN "key" TEXT, ADD COLUMN turn TEXT,'
        " ADD COLUMN role TEXT, ADD COLUMN sent_at TIMESTAMP WITH TIME ZONE",
        "UPDATE message SET stored_at = sent_at, conversation = coalesce("
        "(SELECT i.conversation FROM inbox i WHERE i.message_id = message.id LIMIT 1), '')",
        "UPDATE message SET session = s.id, conversation = s.conversation"
        " FROM session s WHERE s.number = message.session_number",
        "UPDATE turn SET session = s.id, conversation = s.conversation"
        " FROM session s WHERE s.number = turn.session_number",
        "UPDATE ledger SET session = s.id FROM session s WHERE s.number = ledger.session_number",
        "UPDATE ledger SET role = m.role, turn = m.turn, sent_at = m.sent_at,"
        " \"key\" = m.turn || '-m' || m.id FROM message m WHERE m.id = ledger.message_id",
        "ALTER TABLE message DROP COLUMN session_number, ALTER COLUMN conversation SET NOT NULL,"
        " ALTER COLUMN stored_at SET NOT NULL",
        "ALTER TABLE turn DROP COLUMN session_number, ALTER COLUMN conversation SET NOT NULL,"
        " ALTER COLUMN session SET NOT NULL",
        "ALTER TABLE ledger DROP COLUMN session_number, DROP CONSTRAINT uq_ledger_message_id,"
        ' ALTER COLUMN session SET NOT NULL, ALTER COLUMN "key" SET NOT NULL,'
        " ALTER COLUMN turn SET NOT NULL, ALTER COLUMN role SET NOT NULL,"
        " ALTER COLUMN sent_at SET NOT NULL",
        "ALTER TABLE session DROP CONSTRAINT pk_session, DROP CONSTRAINT uq_session_id,"
        " DROP COLUMN number",
        "ALTER TABLE session ADD CONSTRAINT pk_session PRIMARY KEY (id)",
        "ALTER TABLE ledger ADD CONSTRAINT fk_ledger_session"
        " FOREIGN KEY (session) REFERENCES session (id),"
        ' ADD CONSTRAINT uq_ledger_key UNIQUE ("key"),'
        " ADD CONSTRAINT uq_ledger_session_seq UNIQUE (session, seq)",
    ):
        op.execute(statement)
    _hold_names()


def _let_go_of_names() -> None:
    for table, column in _NAMED:
        op.drop_constraint(f"fk_{table}_{column}", table)


def _hold_names() -> None:
    for table, column in _NAMED:
        op.create_foreign_key(f"fk_{table}_{column}", table, "session", [column], ["id"])
