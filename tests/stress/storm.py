"""A crowd that talks while everything goes wrong at random, again after the same seed."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

    from tests.stress.town import Town


@dataclass(frozen=True, slots=True)
class Weather:
    """How much is said, and how much goes wrong."""

    messages: int
    conversations: int
    #: share of messages with which one fault is planned
    trouble: float = 0.25
    #: gateways that run one after the other; every second one ends at once
    lives: int = 3
    #: times that a platform is unreachable for a while, in each life
    outages: int = 1
    #: real seconds between two messages
    pause: float = 0.01


@dataclass(slots=True)
class Report:
    """What happened."""

    seconds: float = 0.0
    planned: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)


async def storm(town: Town, weather: Weather, chance: Random) -> Report:
    """Let everybody talk through all of it, wait until it is quiet, and check every word."""
    report, began = Report(), time.monotonic()
    names = list(town.fronts)
    script = [
        (name, number % weather.conversations)
        for name in names
        for number in range(weather.messages)
    ]
    chance.shuffle(script)
    # Everybody has written once before: nobody tells a bot of a direct channel that it missed.
    known = [(name, who) for name in names for who in range(weather.conversations)]
    for each in known:
        script.remove(each)
    share = -(-len(script) // weather.lives)
    for life in range(weather.lives):
        last = life == weather.lives - 1
        async with town.running(crash=life % 2 == 0 and not last) as gateway:
            await town.connected(gateway, *names)
            if life == 0:
                for each in known:
                    town.say(*each)
                    await asyncio.sleep(weather.pause)
                await town.quiet(timeout=60 + len(known))
            part = script[life * share : (life + 1) * share]
            moments = chance.sample(range(len(part)), weather.outages)
            outages = {moment: chance.choice(names) for moment in moments}
            for index, (name, who) in enumerate(part):
                if chance.random() < weather.trouble:
                    _plan(town, name, chance, report)
                if index in outages:
                    report.planned[f"{outages[index]} down"] += 1
                    await town.fronts[outages[index]].server.down(0.3)
                town.say(name, who)
                await asyncio.sleep(chance.uniform(0, 2 * weather.pause))
            if last:
                await town.quiet(timeout=40 + len(script) / 5)
    report.counts, report.seconds = town.verify(), time.monotonic() - began
    return report


def _plan(town: Town, name: str, chance: Random, report: Report) -> None:
    faults = town.fronts[name].faults()
    kind = chance.choice(sorted(faults))
    faults[kind]()
    report.planned[f"{name} {kind}"] += 1
