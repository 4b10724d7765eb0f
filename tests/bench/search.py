"""Full-text search at size: what a hundred thousand messages weigh, and how long a query takes.

Run as ``python -m tests.bench.search``. The text is invented from a fixed seed: words by Zipf's
law in five languages (English, German, Russian, Chinese, Japanese by their alphabets), a third of
them one person's among fifty.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.model.ids import PeerId, TurnId
from gateway.model.turn import TurnState
from gateway.store import messages, migrate, search, tables
from gateway.store.sqlite import SqliteStore
from gateway.text.terms import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.store.engine import Tx

NOW = datetime(2026, 11, 1, tzinfo=UTC)
PEOPLE = 50
BATCH = 500
COMMON = ("the", "and", "to", "of", "a", "in", "is", "that", "it", "for")
Json = dict[str, Any]
ROUNDS = 40
EVERYTHING = search.Scope()

QUERIES = {
    "rare": "zanzibar",
    "common": "the",
    "two words": "the garden",
    "phrase": '"the garden"',
    "prefix": "gard*",
    "Chinese pair": "天气",
    "nothing": "qqqqqq",
}


class Words:
    """Sentences of invented words, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        latin = [*COMMON, "garden", *self._vocabulary()]
        german = list(self._vocabulary("abcdefghiklmnoprstuvwzäöüß", 12000, longest=14))
        cyrillic = list(self._vocabulary("абвгдежзиклмнопрстуфхцчшэюя", 4000))
        self._han = [chr(0x4E00 + number) for number in range(1500)]
        kana = [chr(number) for number in range(0x3042, 0x3094)]
        self._japanese = [*kana, *self._han[:700], *(chr(0x30A2 + number) for number in range(80))]
        self._lists = [latin, latin, german, cyrillic]
        self._weights = {
            id(words): list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
            for words in (latin, german, cyrillic, self._han, self._japanese)
        }

    def sentence(self, length: int) -> str:
        """Return about ``length`` characters in one language."""
        kind = self._chance.random()
        if kind < 0.05:
            return "".join(self._draw(self._japanese, length // 3))
        if kind < 0.15:
            return "".join(self._draw(self._han, length // 3)) + "天气" * (
                self._chance.random() < 0.05
            )
        text = " ".join(self._draw(self._chance.choice(self._lists), max(2, length // 6)))
        return f"{text} zanzibar" if self._chance.random() < 0.0002 else text

    def length(self, mean: float) -> int:
        """Return a length: most are short, some are long."""
        return 8 + int(self._chance.expovariate(1 / mean))

    def person(self) -> int:
        """Return who speaks: one person says far more than the others."""
        return 0 if self._chance.random() < 0.3 else self._chance.randrange(PEOPLE)

    def _draw(self, words: list[str], count: int) -> list[str]:
        return self._chance.choices(words, cum_weights=self._weights[id(words)], k=count)

    def _vocabulary(
        self, letters: str = "abcdefghiklmnoprstuvwy", count: int = 12000, longest: int = 9
    ) -> Iterator[str]:
        for _ in range(count):
            yield "".join(self._chance.choices(letters, k=self._chance.randint(3, longest)))


def _people() -> tuple[list[Json], list[Json]]:
    """Return the rows of conversations and sessions."""
    conversations, opened = [], []
    for person in range(PEOPLE):
        chat, name = _chat(person), _session(person)
        key = f"default:telegram:111:direct:{chat}"
        conversations.append(
            {
                "key": key,
                "platform": "telegram",
                "account": "111",
                "place_kind": "direct",
                "place": chat,
                "session": name,
                "sessions": 1,
                "created_at": NOW,
            }
        )
        opened.append(
            {"number": person + 1, "id": name, "conversation": key, "ordinal": 1, "opened_at": NOW}
        )
    return conversations, opened


def _turn(number: int, person: int) -> Json:
    return {
        "id": f"t_{number:020}",
        "session_number": person + 1,
        "peer": f"person{person}",
        "rung": "alias",
        "identity": {"peer": f"person{person}"},
        "state": TurnState.SETTLED,
        "platform": "telegram",
        "account": "111",
        "place": _chat(person),
        "user_id": _chat(person),
        "reply_to": str(number),
        "created_at": NOW,
        "updated_at": NOW,
    }


def _message(id_: int, turn: Json, text: str) -> Json:
    return {
        "id": id_,
        "session_number": turn["session_number"],
        "turn": turn["id"],
        "role": messages.USER if id_ % 2 else messages.ASSISTANT,
        "author": "Mira" if id_ % 2 else "",
        "text": text,
        "sent_at": NOW,
    }


def _row(message: Json) -> Json:
    return {
        "session_number": message["session_number"],
        "seq": message["id"],
        "peer": "hermes",
        "message_id": message["id"],
        "state": "saved",
        "created_at": NOW,
    }


def _chat(person: int) -> str:
    return str(700100200 + person)


def _session(person: int) -> str:
    return f"telegram-{_chat(person)}-1a2b3c4d"


def _batch(tx: Tx, first: int, words: Words) -> int:
    """Store turns of two messages each; return how many bytes were said."""
    spoken = [_turn(number, words.person()) for number in range(first, first + BATCH)]
    said = []
    for number, turn in enumerate(spoken, first):
        for place, mean in ((1, 120.0), (2, 480.0)):
            text = words.sentence(words.length(mean))
            said.append(_message(number * 2 + place, turn, text))
    tx.conn.execute(tables.turn.insert(), spoken)
    tx.conn.execute(tables.message.insert(), said)
    tx.conn.execute(tables.ledger.insert(), [_row(message) for message in said])
    return sum(len(message["text"].encode()) for message in said)


async def fill(store: SqliteStore, count: int) -> tuple[int, float]:
    """Store ``count`` messages; return bytes said and messages indexed in a second."""
    words = Words(7)
    conversations, opened = _people()
    await store.write(lambda tx: tx.conn.execute(tables.conversation.insert(), conversations))
    await store.write(lambda tx: tx.conn.execute(tables.session.insert(), opened))
    said, spent = 0, 0.0
    for first in range(0, count // 2, BATCH):
        said += await store.write(partial(_batch, first=first, words=words))
        began = time.perf_counter()
        for turn in range(first, first + BATCH):
            await store.write(partial(search.feed, turn_id=TurnId(f"t_{turn:020}")))
        spent += time.perf_counter() - began
    return said, count / spent


async def measure(store: SqliteStore) -> None:
    """Print median and 95th percentile of every kind of query."""
    one = search.Scope(peer=PeerId("person7"))
    asked = {kind: (text, EVERYTHING) for kind, text in QUERIES.items()}
    asked |= {f"{kind}, one person": (QUERIES[kind], one) for kind in ("common", "two words")}
    for kind, (text, scope) in asked.items():
        times, hits = [], 0
        for _ in range(ROUNDS):
            began = time.perf_counter()
            query = parse(text)
            found = await store.read(partial(search.find, query=query, scope=scope, limit=10))
            times.append((time.perf_counter() - began) * 1000)
            hits = len(found)
        p95 = sorted(times)[int(ROUNDS * 0.95)]
        print(f"{kind:<24} {statistics.median(times):7.2f} ms  p95 {p95:7.2f} ms  {hits} shown")


def weigh(path: Path) -> tuple[int, int]:
    """Return the bytes of messages with their indexes, and of the whole database, packed."""
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("VACUUM")
        sizes = dict(conn.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    parts = ("message", "ix_message", "search_index")
    return sum(size for name, size in sizes.items() if name.startswith(parts)), sum(sizes.values())


async def run(count: int) -> None:
    """Fill a database, weigh it and search it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "gateway.db")
        store = SqliteStore(path)
        migrate.upgrade(store.engine)
        said, rate = await fill(store, count)
        searched, whole = weigh(path)
        print(f"{count:,} messages, {said / 1e6:.1f} MB of text, indexed {rate:,.0f} a second")
        print(f"messages and index     {searched / 1e6:6.1f} MB: {searched / said:.2f} x the text")
        print(f"with turns and ledger  {whole / 1e6:6.1f} MB: {whole / said:.2f} x the text")
        await measure(store)
        await store.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    asyncio.run(run(parser.parse_args().messages))
