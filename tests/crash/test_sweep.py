"""Killed at random under load, again and again: nothing lost, doubled or out of order."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.fakes.fuzzing import THOROUGH

if TYPE_CHECKING:
    from tests.crash.processes import CrashHome

pytestmark = pytest.mark.timeout(150)

CHATS = [800_000 + number for number in range(10)]
KILLS = 22 if THOROUGH else 6
#: messages in a second, over all chats
RATE = 60.0
#: a process is killed after at most so many sends, and after so many seconds anyhow
MOST_SENDS, LIVES = 12, (0.5, 2.5)
#: nothing is given up here, however often it was interrupted; the table has a test of that
CRASHES = 1_000
#: longest time in all for starting, killing and sending
LONGEST = 60.0


async def test_random_kills_lose_double_and_reorder_nothing(crash_home: CrashHome) -> None:
    seed = int(os.environ.get("GATEWAY_CRASH_SEED", "0")) or random.SystemRandom().randrange(2**32)
    print(f"seed {seed}: GATEWAY_CRASH_SEED={seed} repeats these times")
    chance = random.Random(seed)
    everybody = {"telegram": [str(chat) for chat in CHATS]}
    crash_home.configure(access={"allow": everybody, "rate": {"per_minute": 100_000}})
    said: dict[int, list[str]] = {chat: [] for chat in CHATS}
    talking = asyncio.create_task(_talk(crash_home, chance, said))
    try:
        kills = await _kill_over_and_over(crash_home, chance)
    finally:
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)
    assert kills >= 0.8 * KILLS, f"only {kills} kills in {LONGEST:g} s"
    await crash_home.start(crashes=CRASHES)
    await crash_home.quiet(60, memory=False)
    total = sum(map(len, said.values()))
    unknown = _verify(crash_home, said)
    print(f"{kills} kills, {total} messages, {unknown} of them answered by unknown parts")


async def _talk(home: CrashHome, chance: random.Random, said: dict[int, list[str]]) -> None:
    while True:
        chat = chance.choice(CHATS)
        text = f"{chat}-{len(said[chat]):04}"
        said[chat].append(text)
        home.tg.say(text, user=chat)
        await asyncio.sleep(1 / RATE)


async def _kill_over_and_over(home: CrashHome, chance: random.Random) -> int:
    end = time.monotonic() + LONGEST
    for kills in range(KILLS):
        if time.monotonic() > end:
            return kills
        await home.start(delay=chance.uniform(0.0, 0.05), crashes=CRASHES)
        await _live(home, chance)
        await home.kill()
    return KILLS


async def _live(home: CrashHome, chance: random.Random) -> None:
    """Let the process get on for a number of sends, or for a while where it gets to none."""
    sends = len(home.tg.calls_of("sendMessage")) + chance.randint(0, MOST_SENDS)
    with suppress(TimeoutError):
        await home.tg.wait_for_calls("sendMessage", sends, timeout=chance.uniform(*LIVES))
    await asyncio.sleep(chance.uniform(0, 0.03))


def _verify(home: CrashHome, said: dict[int, list[str]]) -> int:
    """Check every chat and return how many messages were answered by parts that are unknown."""
    unknown = _answered_by_unknown_parts(home)
    for chat, texts in said.items():
        answered = [line for text in home.texts(chat) for line in text.splitlines()]
        _no_difference(
            f"answers in {chat}", [t for t in texts if t not in unknown], answered, unknown
        )
        stored = home.column(
            "SELECT m.text FROM ledger l JOIN message m ON m.id = l.message_id"
            " JOIN session s ON s.number = l.session_number"
            " JOIN conversation c ON c.key = s.conversation"
            " WHERE c.place = ? AND m.role = 'user' ORDER BY s.opened_at, l.seq",
            str(chat),
        )
        _no_difference(f"ledger of {chat}", texts, stored, set())
        remembered = [text for _, peer, text in home.remembered() if peer == str(chat)]
        # Memory takes its time after so many broken requests: what it has is right so far.
        _no_difference(f"memory of {chat}", texts[: len(remembered)], remembered, set())
    assert set(home.column("SELECT DISTINCT state FROM turn")) == {"settled"}
    # A prefetch may be given up: it only makes the next recall slower.
    dead = "SELECT lane, key, error FROM item WHERE state = 'dead' AND lane != 'prefetch'"
    assert home.rows(dead) == []
    assert home.column("SELECT count(*) FROM ledger WHERE state = 'held'") == [0]
    return len(unknown)


def _answered_by_unknown_parts(home: CrashHome) -> set[str]:
    return set(
        home.column(
            "SELECT m.text FROM outbox o JOIN message m ON m.turn = o.turn"
            " WHERE o.state = 'unknown' AND m.role = 'user'"
        )
    )


def _no_difference(what: str, wanted: list[str], found: list[str], window: set[str]) -> None:
    """Fail with the first message that is missing, doubled or out of order.

    What is in ``window`` may be missing, for nobody can know, but not doubled or out of order.
    """
    assert found == sorted(found), f"{what}: out of order at {_first_fall(found)}"
    assert len(found) == len(set(found)), f"{what}: doubled {_doubled(found)}"
    kept = [text for text in found if text not in window]
    assert kept == wanted, f"{what}: lost {sorted(set(wanted) - set(kept))}"


def _first_fall(found: list[str]) -> str:
    return next(f"{a} before {b}" for a, b in itertools.pairwise(found) if a > b)


def _doubled(found: list[str]) -> list[str]:
    return sorted({text for text in found if found.count(text) > 1})
