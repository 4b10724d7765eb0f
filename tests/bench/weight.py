"""What a turn weighs: real turns through a running gateway, and the bytes of each table.

Run as ``python -m tests.bench.weight``. The text is that of ``tests.bench.search``. The whole
database is weighed after the turns, when ``retention.raw`` is over, and when ``retention.done``
is; the memory service in it holds a copy of the text of its own. The pages of an empty database
are taken off, so that a small number of turns tells what a large one weighs.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sqlite3
import tempfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from gateway.pipeline import retention
from gateway.ports import Answer
from gateway.settings.home import make_private_folder
from gateway.settings.schema import RetentionSettings
from gateway.store import migrate
from gateway.store.sqlite import SqliteStore
from tests.bench.search import Words
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.agent import ScriptedAgent
from tests.fakes.clock import FakeClock
from tests.fakes.household import TOKEN
from tests.integration.pipeline.support import House

if TYPE_CHECKING:
    from gateway.ports import TurnRequest

PEOPLE = range(700100200, 700100240)
#: tables of the memory service in the gateway
MEMORY = "memory_"


def _agent(words: Words) -> ScriptedAgent:
    agent = ScriptedAgent()

    def answer(_request: TurnRequest) -> Answer:
        text = words.sentence(words.length(480.0))
        model = "openai:stub-model"
        return Answer(text, model=model, requests=1, input_tokens=512, output_tokens=96)

    agent.answer = answer
    return agent


async def talk(house: House, turns: int) -> None:
    """Have everybody say something, turn after turn."""
    words = Words(7)
    async with house.running():
        for _ in range(0, turns, len(PEOPLE)):
            for person in PEOPLE:
                house.tg.say(words.sentence(words.length(120.0)), user=person)
            await house.until(
                lambda: not house.live() and not house.tg.pending(), "settled", timeout=120
            )


def weigh(path: Path, empty: dict[str, int]) -> tuple[int, dict[str, int]]:
    """Return the bytes said, and for each table those of it and its indexes, packed."""
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("VACUUM")
        said = "SELECT sum(length(CAST(text AS BLOB))) FROM message"
        text = int(conn.execute(said).fetchone()[0] or 0)
        of = dict(conn.execute("SELECT name, tbl_name FROM sqlite_master"))
        sizes: dict[str, int] = {}
        for name, size in conn.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"):
            table = "search_index" if name.startswith("search_index") else of.get(name, name)
            sizes[table] = sizes.get(table, 0) + size
    return text, {name: max(0, size - empty.get(name, 0)) for name, size in sizes.items()}


def _print(title: str, text: int, sizes: dict[str, int]) -> None:
    whole = sum(sizes.values())
    service = sum(size for name, size in sizes.items() if name.startswith(MEMORY))
    print(f"{title}: {whole / text:.2f} x the text, {service / text:.2f} of it the memory service")
    largest = sorted(sizes.items(), key=lambda each: -each[1])[:9]
    print("  " + ", ".join(f"{name} {size / text:.2f}" for name, size in largest))


async def _sweep(house: House, days: int) -> None:
    store = SqliteStore(house.home.database)
    clock = FakeClock(house.clock.now() + timedelta(days=days))
    await retention.sweep(store, clock, RetentionSettings(), house.home.files)
    await store.close()


async def run(turns: int) -> None:
    """Talk, weigh, wait a month, weigh again."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    async with TelegramEmulator() as tg:
        tg.bot(TOKEN)
        with tempfile.TemporaryDirectory() as folder:
            house = House(Path(folder), tg, _agent(Words(9)))
            house.configure(access={"allow": {"telegram": [str(person) for person in PEOPLE]}})
            make_private_folder(house.home.gateway)
            store = SqliteStore(house.home.database)
            migrate.upgrade(store.engine)
            await store.close()
            _, empty = weigh(house.home.database, {})
            await talk(house, turns)
            text, sizes = weigh(house.home.database, empty)
            print(f"{turns} real turns, {text / 1e6:.2f} MB of text")
            _print("of the last three days", text, sizes)
            await _sweep(house, 4)
            _print("of the last month", *weigh(house.home.database, empty))
            await _sweep(house, 32)
            _print("older", *weigh(house.home.database, empty))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=400)
    asyncio.run(run(parser.parse_args().turns))
