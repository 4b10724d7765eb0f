"""``make stress``: a thousand messages over a hundred conversations on each platform, and faults.

Telegram, Discord and Slack run in one gateway process against their emulators, with the
unmodified client libraries. Answers are refused, cut off, lost behind the work and late;
sockets break, sessions are forgotten, tickets are dead, updates come twice or unreadable;
platforms are down for a while; the process is stopped and crashes in between. At the end every
conversation is compared with what the platform's own store holds.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from tests.stress.fronts import all_fronts
from tests.stress.storm import Weather, storm
from tests.stress.town import Town

if TYPE_CHECKING:
    from tests.stress.storm import Report


async def run(seed: int, weather: Weather) -> Report:
    """Let it blow once over all three platforms."""
    chance = random.Random(seed)
    async with AsyncExitStack() as stack:
        fronts = all_fronts()
        for front in fronts:
            await stack.enter_async_context(front.server)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        return await storm(Town(Path(folder), fronts, chance), weather, chance)


def main() -> None:
    """Run as often as asked; stop at the first word that is lost, doubled or out of order."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress.run")
    parser.add_argument("--messages", type=int, default=1000, help="on each platform")
    parser.add_argument("--conversations", type=int, default=100, help="on each platform")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--lives", type=int, default=6, help="starts of the gateway")
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    print(f"seed {chosen.seed}")
    weather = Weather(chosen.messages, chosen.conversations, lives=chosen.lives, outages=2)
    report = asyncio.run(run(chosen.seed, weather))
    faults = report.planned.total()
    print(f"{report.seconds:.0f} s, {faults} faults of {len(report.planned)} kinds")
    for name in ("telegram", "discord", "slack"):
        counts = report.counts
        missing = counts[f"{name} missing"]
        print(
            f"{name:9} {counts[name]} messages: {counts[name] - missing} answered once and in "
            f"order, {missing} by a part recorded as unknown that did not arrive"
        )
    for kind, count in sorted(report.planned.items()):
        print(f"  {count:4} {kind}")


if __name__ == "__main__":
    main()
