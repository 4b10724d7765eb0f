"""``make eval``: how well a memory service knows twelve invented people.

See docs/memory-thinking.md for the method and for figures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tests.eval import scoring, service

if TYPE_CHECKING:
    from gateway.ports import Completer, Embedder
    from tests.eval.scoring import Verdict
    from tests.eval.service import Service


async def evaluate(
    asked: Service, data: scoring.Data, level: str, *, at_once: int = 4
) -> list[Verdict]:
    """Tell a service everything, let it think, and ask it everything."""
    for session in data.sessions:
        await asked.tell(session)
        await asked.settled()
    room = asyncio.Semaphore(at_once)

    async def one(question: scoring.Question) -> Verdict:
        async with room:
            return scoring.judge(question, await asked.ask(question, level))

    return list(await asyncio.gather(*map(one, data.questions)))


async def _main(options: argparse.Namespace) -> list[Verdict]:
    data = scoring.load(options.language or scoring.LANGUAGES, people=options.people)
    async with AsyncExitStack() as stack:
        if options.memory_url:
            asked = await stack.enter_async_context(
                service.honcho(options.memory_url, options.memory_key)
            )
        else:
            completer = await _completer(options.by, stack)
            asked = await stack.enter_async_context(
                service.embedded(completer, _embedder(options.embeddings))
            )
        began = time.monotonic()
        verdicts = await evaluate(asked, data, options.level)
        seconds = time.monotonic() - began
        _report(
            options, data, verdicts, {"seconds": round(seconds, 1), "cost": await asked.cost()}
        )
    return verdicts


async def _completer(by: str, stack: AsyncExitStack) -> Completer | None:
    if by == "stub":
        return await stack.enter_async_context(service.scripted())
    if by == "rule":
        return None
    from gateway.agent.choice import choose
    from gateway.cli.common import loaded
    from gateway.cli.models import make_completer, weights

    configuration = loaded()
    choice = await choose(configuration.settings.model, configuration.secrets, weights())
    print(f"model: {choice.describe()[0]}")
    return make_completer(configuration, choice)


def _embedder(provider: str) -> Embedder | None:
    from gateway.agent.embed import open_embedder
    from gateway.settings.schema import EmbeddingSettings

    return open_embedder(EmbeddingSettings.model_validate({"provider": provider}), os.environ)


def _report(
    options: argparse.Namespace,
    data: scoring.Data,
    verdicts: list[Verdict],
    figures: dict[str, Any],
) -> None:
    if options.json:
        rows = [asdict(each) for each in verdicts]
        print(json.dumps({**figures, "verdicts": rows}, ensure_ascii=False, indent=1))
        return
    if options.verbose:
        for each in verdicts:
            if each.fault:
                print(
                    f"{each.question.about}: {each.question.ask}\n  {each.fault}: {each.answer!r}"
                )
    print(f"{len(data.sessions)} sessions, {len(data.questions)} questions, level {options.level}")
    print(scoring.table(verdicts))
    print(f"{figures['seconds']} s; {json.dumps(figures['cost']) if figures['cost'] else ''}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make eval", description=__doc__)
    parser.add_argument("--by", choices=["stub", "configured", "rule"], default="stub")
    parser.add_argument("--embeddings", choices=["auto", "local", "openai", "off"], default="off")
    parser.add_argument("--memory-url", default="", help="a Honcho to ask instead, without /v3")
    parser.add_argument("--memory-key", default=os.environ.get("HONCHO_API_KEY", ""))
    parser.add_argument(
        "--level", choices=["minimal", "low", "medium", "high", "max"], default="low"
    )
    parser.add_argument("--language", action="append", choices=scoring.LANGUAGES)
    parser.add_argument("--people", type=int, help="so many of each language")
    parser.add_argument("--least", type=float, default=0.0, help="exit 1 below this share")
    parser.add_argument("--verbose", action="store_true", help="show every wrong answer")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> int:
    """Run; 1 where fewer answers are right than asked for."""
    options = _options()
    verdicts = asyncio.run(_main(options))
    right = sum(not each.fault for each in verdicts)
    return int(right < options.least * len(verdicts))


if __name__ == "__main__":
    raise SystemExit(main())
