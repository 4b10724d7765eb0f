"""``make bench``: what the gateway adds to a turn, how fast it starts, and what it weighs.

A real process each time, over loopback HTTP: the Telegram emulator and a model stub that answers
at once. "Added" is the time from a message's arrival at Telegram to its answer there, less the
time the model took. Every figure stands beside the same figure of a bare bot without storage.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tests.emulators.openai import ModelStub
from tests.emulators.telegram import TelegramEmulator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

TOKEN = "111222333:AAinventedTokenForBenchmarks_0123456789ab"
#: turns go round these, so that Telegram's pace of a message a second and chat is not measured
PEOPLE = range(1000, 1060)
#: below what Telegram lets a bot send in a second
CROWD = range(2000, 2025)
WARM_UP = 5


@dataclass(frozen=True, slots=True)
class Figures:
    """One subject's figures; times in milliseconds, memory in megabytes."""

    start_to_first_poll: float
    turn_median: float
    turn_p95: float
    crowd_turns_per_second: float
    rss: float


async def measure(command: Sequence[str], turns: int) -> Figures:
    """Start a subject on an empty home and measure it."""
    async with TelegramEmulator() as telegram, ModelStub() as model:
        telegram.bot(TOKEN, username="bench_bot")
        model.reply("A short answer.")
        with tempfile.TemporaryDirectory() as home:
            _configure(Path(home), telegram, model)
            began = time.perf_counter()
            async with _running(command, home, telegram, model) as process:
                await telegram.wait_for_calls("getUpdates", timeout=30)
                started = (time.perf_counter() - began) * 1000
                times = [
                    await _turn(telegram, PEOPLE[number % len(PEOPLE)])
                    for number in range(turns + WARM_UP)
                ]
                rate = await _crowd(telegram)
                rss = _rss(process.pid)
    kept = sorted(times[WARM_UP:])
    return Figures(
        start_to_first_poll=started,
        turn_median=statistics.median(kept),
        turn_p95=kept[int(len(kept) * 0.95)],
        crowd_turns_per_second=rate,
        rss=rss,
    )


def _configure(home: Path, telegram: TelegramEmulator, model: ModelStub) -> None:
    people = ", ".join(f'"{person}"' for person in (*PEOPLE, *CROWD))
    (home / "config.yaml").write_text(
        "platforms:\n"
        f"  telegram: {{base_url: '{telegram.base_url}', "
        f"base_file_url: '{telegram.base_file_url}'}}\n"
        f"access: {{allow: {{telegram: [{people}]}}}}\n"
        f"model: {{provider: openai, name: stub-model, base_url: '{model.base_url}'}}\n"
        "log: {level: warning}\n",
        encoding="utf-8",
    )


@asynccontextmanager
async def _running(
    command: Sequence[str], home: str, telegram: TelegramEmulator, model: ModelStub
) -> AsyncIterator[asyncio.subprocess.Process]:
    environ = {
        **os.environ,
        "HERMES_HOME": home,
        "TELEGRAM_BOT_TOKEN": TOKEN,
        "OPENAI_API_KEY": "none",
        "TOKEN": TOKEN,
        "TELEGRAM": telegram.base_url,
        "MODEL": model.base_url,
        "PTB_TIMEDELTA": "true",
    }
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, env=environ
    )
    try:
        yield process
    finally:
        process.terminate()
        await process.wait()


async def _turn(telegram: TelegramEmulator, person: int) -> float:
    """Return one turn's milliseconds."""
    before = len(telegram.answers(person))
    began = time.perf_counter()
    telegram.say("How are you?", user=person)
    await telegram.wait_for(before + 1, chat=person, timeout=15)
    took = (time.perf_counter() - began) * 1000
    await asyncio.sleep(0.05)
    return took


async def _crowd(telegram: TelegramEmulator) -> float:
    """Return turns per second when many people write at once."""
    began = time.perf_counter()
    for person in CROWD:
        telegram.say("How are you?", user=person)
    await asyncio.gather(*(telegram.wait_for(1, chat=person, timeout=60) for person in CROWD))
    return len(CROWD) / (time.perf_counter() - began)


def _rss(pid: int) -> float:
    process = psutil.Process(pid)
    family = [process, *process.children(recursive=True)]
    return sum(one.memory_info().rss for one in family) / 1e6


def _median(runs: Sequence[Figures]) -> Figures:
    rows = [asdict(run) for run in runs]
    return Figures(**{name: statistics.median(row[name] for row in rows) for name in rows[0]})


def _print(gateway: Figures, baseline: Figures) -> None:
    print(f"{'':<28}{'gateway':>12}{'bare bot':>12}{'ratio':>9}")
    bare = asdict(baseline)
    for name, value in asdict(gateway).items():
        ratio = value / bare[name]
        print(f"{name.replace('_', ' '):<28}{value:>12.1f}{bare[name]:>12.1f}{ratio:>9.2f}")
    added = gateway.turn_median - baseline.turn_median
    print(f"\nadded to a turn by the gateway (median): {added:.1f} ms")


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    gateway, baseline = [], []
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds} …", file=sys.stderr)
        binary = str(Path(sys.executable).with_name("hermes-gateway"))
        gateway.append(await measure([binary, "run"], options.turns))
        bot = [sys.executable, "-m", "tests.bench.baseline_bot"]
        baseline.append(await measure(bot, options.turns))
    ours, bare = _median(gateway), _median(baseline)
    if options.json:
        print(json.dumps({"gateway": asdict(ours), "bare_bot": asdict(bare)}, indent=2))
    else:
        _print(ours, bare)


if __name__ == "__main__":
    asyncio.run(_main())
