"""One home on disk with an emulated Telegram outside: its settings, and what became of it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import zlib
from contextlib import closing
from typing import TYPE_CHECKING, Any

from gateway.settings.home import Home
from gateway.store import audit, readonly

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.emulators.telegram import TelegramEmulator

Json = dict[str, Any]

TOKEN = "123456:AAinventedTokenForTests_0123456789abcd"
OTHER_TOKEN = "654321:BBinventedTokenForTests_0123456789abcd"
BOT = 123456

MIRA, TOBIAS, STRANGER = 700100200, 700100201, 700999999
GROUP, FORUM, SMALL_GROUP = -1005550001112, -1005550003333, -4455667


class Household:
    """The files of a home and its database, read from outside as another process would."""

    def __init__(self, folder: Path, tg: TelegramEmulator) -> None:
        self.home = Home(folder / "hermes", folder / "user")
        self.tg = tg
        self.home.path.mkdir(parents=True)
        self.home.user.mkdir()
        self.tokens(TOKEN)
        self.configure()

    # --- settings -------------------------------------------------------------------------

    def tokens(self, *tokens: str) -> None:
        """Write the bots' tokens where an operator keeps them."""
        self.home.env.write_text(f"TELEGRAM_BOT_TOKEN={','.join(tokens)}\n")
        self.home.env.chmod(0o600)

    def configure(self, *, access: Json | None = None, **sections: Any) -> None:
        """Write config.yaml: two people are allowed, three groups are served."""
        admitted: Json = {
            "allow": {"telegram": [str(MIRA), str(TOBIAS)]},
            "places": {"telegram": [str(GROUP), str(FORUM), str(SMALL_GROUP)]},
            **(access or {}),
        }
        address = {"base_url": self.tg.base_url, "base_file_url": self.tg.base_file_url}
        config = {
            "access": admitted,
            "platforms": {"telegram": address},
            # its port is one for all tests that run at once
            "web": {"enabled": False},
            **sections,
        }
        _replace(self.home.config, json.dumps(config))

    def honcho(self, **keys: Any) -> None:
        """Write honcho.json."""
        _replace(self.home.path / "honcho.json", json.dumps(keys))

    async def until(self, reached: Callable[[], Any], what: str, timeout: float = 20.0) -> None:
        """Wait for something that only files, the database or an agent show."""
        pause = 0.005
        try:
            async with asyncio.timeout(timeout):
                while not reached():
                    await asyncio.sleep(pause)
                    pause = min(pause * 1.3, 0.1)
        except TimeoutError:
            raise AssertionError(f"not within {timeout:g} s: {what}; {self.live()}") from None

    async def settled(self) -> None:
        """Wait until nothing is left to do and every update was confirmed."""
        await self.until(lambda: not self.live() and not self.tg.pending(), "settled")

    async def taken(self) -> None:
        """Wait until every update was confirmed, which is after it was stored."""
        await self.until(lambda: not self.tg.pending(), "all updates taken")

    # --- what became of it ------------------------------------------------------------------

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds in the database."""
        if not self.home.database.exists():
            return []
        address = f"{self.home.database.as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=5)) as conn:
            return conn.execute(sql, values).fetchall()

    def column(self, sql: str, *values: Any) -> list[Any]:
        """Return the first column of what a query finds."""
        return [row[0] for row in self.rows(sql, *values)]

    def live(self) -> list[tuple[Any, ...]]:
        """Return the mailbox items that wait or run."""
        return self.rows(
            "SELECT lane, key, state, attempts, error FROM item"
            " WHERE state IN ('ready', 'running')"
        )

    def ledger(self, columns: str = "m.role, m.text") -> list[tuple[Any, ...]]:
        """Return the ledger in the order of sessions and positions (``l``), with texts (``m``)."""
        return self.rows(
            f"SELECT {columns} FROM ledger l JOIN message m ON m.id = l.message_id"
            " JOIN session s ON s.number = l.session_number ORDER BY s.opened_at, s.rowid, l.seq"
        )

    def words(self) -> list[str]:
        """Return what people said, as the ledger has it."""
        return [text for role, text in self.ledger() if role == "user"]

    def remembered(self) -> list[tuple[Any, ...]]:
        """Return (session, peer, text) as the embedded memory service holds them, in order."""
        return self.rows(
            "SELECT m.session, m.peer, m.content FROM memory_message m ORDER BY m.session, m.seq"
        )

    def sessions(self) -> list[tuple[Any, ...]]:
        """Return (id, peer, close_reason) of the memory sessions, oldest first."""
        return self.rows("SELECT id, peer, close_reason FROM session ORDER BY opened_at, rowid")

    def first_turn(self) -> tuple[str, str]:
        """Return (id, name of its session) of the oldest turn."""
        (found,) = self.rows(
            "SELECT t.id, s.id FROM turn t JOIN session s ON s.number = t.session_number"
            " ORDER BY t.id LIMIT 1"
        )
        return found[0], found[1]

    def reasons(self) -> list[str]:
        """Return why events were refused or set apart, in order."""
        return self.column("SELECT reason FROM inbox ORDER BY id")

    def audited(self, beginning: str = "") -> list[tuple[str, str, str]]:
        """Return (action, actor, subject) of the audit, oldest first, people by their names."""
        with readonly.look(self.home.database) as conn:
            names = audit.people(conn)
            rows = audit.listed(conn, limit=1000)[::-1]
        return [
            (row.action, names.get(row.actor, row.actor), names.get(row.subject, row.subject))
            for row in rows
            if row.action.startswith(beginning)
        ]

    def stored_bytes(self) -> bytes:
        """Return all that is on the disk: database, log of changes, payloads unpacked."""
        files = sorted(self.home.gateway.iterdir())
        raw = [file.read_bytes() for file in files if file.is_file()]
        packed = self.column("SELECT raw FROM inbox WHERE raw IS NOT NULL")
        packed += self.column("SELECT raw FROM set_aside")
        return b"\n".join(raw + [zlib.decompress(each) for each in packed])

    # --- Telegram -------------------------------------------------------------------------

    def texts(self, chat: int = MIRA, *, bot: str | None = None) -> list[str]:
        """Return the texts that the bot wrote in a chat."""
        return [message["text"] for message in self.tg.answers(chat, bot=bot)]

    async def answers(self, count: int, chat: int = MIRA, *, bot: str | None = None) -> list[str]:
        """Wait for a number of answers and return their texts."""
        found = await self.tg.wait_for(count, chat=chat, bot=bot, timeout=20.0)
        return [message["text"] for message in found]

    async def silence(self, *chats: int) -> None:
        """Wait until all is done and make sure that nobody was answered."""
        await self.settled()
        for chat in chats or (MIRA, TOBIAS, STRANGER, GROUP, FORUM, SMALL_GROUP):
            assert self.texts(chat) == [], f"an answer in {chat}"


def _replace(path: Path, content: str) -> None:
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(content)
    fresh.replace(path)
