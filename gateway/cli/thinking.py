"""What ``memory status`` says of the embedded memory's thinking: who, how much, at what cost."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.store.engine import Connection

_FIGURES = ("calls", "input_tokens", "output_tokens")


def read(conn: Connection) -> dict[str, Any]:
    """Return who thinks, what waits, and what it cost in this hour and the last day."""
    from gateway.memory.embedded import batches, costs
    from gateway.memory.service import THINKING
    from gateway.ops.clock import SystemClock
    from gateway.store import facts

    now = SystemClock().now()
    return {
        **json.loads(facts.get(conn, THINKING) or "{}"),
        "waiting": sum(batches.counts(conn).values()),
        "this_hour": costs.spent(conn, now),
        "last_day": costs.spent(conn, now - timedelta(hours=23)),
    }


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield the same as lines for people; nothing where nothing is known."""
    if not found:
        return
    by = found.get("by")
    who = {None: "not started yet", "rule": "by rule: people's own sentences"}.get(by, f"by {by}")
    yield f"thinking   {who}; {found['waiting']} waiting"
    if found.get("calls_per_hour"):
        yield f"           this hour {_cost(found['this_hour'])}"
        yield f"           last day  {_cost(found['last_day'])}"
        yield (
            f"           at most {found['calls_per_hour']} calls an hour, and as many for"
            " questions (memory.calls_per_hour)"
        )
    if "search" in found:
        yield f"search     by {found['search']}"


def _cost(spent: dict[str, dict[str, int]]) -> str:
    if not spent:
        return "nothing"
    total = {name: sum(each[name] for each in spent.values()) for name in _FIGURES}
    kinds = ", ".join(f"{each['calls']} {kind}" for kind, each in spent.items())
    tokens = f"{total['input_tokens']:,} tokens in, {total['output_tokens']:,} out"
    return f"{total['calls']} calls ({kinds}), {tokens}"
