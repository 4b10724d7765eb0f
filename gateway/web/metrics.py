"""``/metrics`` in Prometheus' words. Labels name platforms, lanes and states, never persons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector

from gateway.ports import ConnectionState

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from prometheus_client.core import Metric

    from gateway.web.shapes import HealthView


def exposition(health: HealthView, now: datetime) -> bytes:
    """Return the numbers as Prometheus reads them."""
    registry = CollectorRegistry()
    registry.register(_Gateway(health, now))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


class _Gateway(Collector):
    def __init__(self, health: HealthView, now: datetime) -> None:
        self._health = health
        self._now = now

    def collect(self) -> Iterable[Metric]:
        """See ``prometheus_client``."""
        health = self._health
        yield InfoMetricFamily(
            "hermes_gateway",
            "The gateway",
            value={"version": health.version, "profile": health.profile},
        )
        yield _one("ready", "1 while every connection can work", int(health.ready))
        started = health.started_at.timestamp()
        yield _one("start_time_seconds", "When the gateway was started", started)
        yield self._connections()
        yield _by("turns", "Turns by state", health.turns, "state")
        yield _by("parts", "Parts of answers by delivery state", health.parts, "state")
        yield from self._lanes()
        yield from self._memory()
        yield _one("audit_whole", "1 while the audit's chain is whole", float(not health.audit))
        yield _one("unreadable_updates", "Updates that were set aside", health.unreadable)

    def _connections(self) -> Metric:
        family = _family("connection_up", "1 while connected", ["platform", "account"])
        for one in self._health.connections:
            up = float(one.state == ConnectionState.CONNECTED)
            family.add_metric([one.platform, one.account], up)
        return family

    def _lanes(self) -> Iterable[Metric]:
        family = _family("mailbox_items", "Items that are not done", ["lane", "state"])
        ages = _family("mailbox_oldest_seconds", "Age of the oldest live item", ["lane"])
        for lane in self._health.lanes:
            for state in ("waiting", "running", "dead"):
                family.add_metric([lane.name, state], getattr(lane, state))
            age = (self._now - lane.oldest).total_seconds() if lane.oldest else 0.0
            ages.add_metric([lane.name], max(0.0, age))
        yield family
        yield ages

    def _memory(self) -> Iterable[Metric]:
        memory = self._health.memory
        numbers = {"waiting": memory.waiting, "saved": memory.saved, "parked": memory.parked}
        yield _by("memory_messages", "Messages on their way to memory", numbers, "state")
        well = float(memory.state == "well")
        yield _one("memory_service_up", "1 while the memory service answers", well)


def _family(name: str, text: str, labels: list[str]) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"hermes_gateway_{name}", text, labels=labels)


def _one(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"hermes_gateway_{name}", text, value=value)


def _by(name: str, text: str, numbers: dict[str, int], label: str) -> Metric:
    family = _family(name, text, [label])
    for key, number in numbers.items():
        family.add_metric([key], number)
    return family
