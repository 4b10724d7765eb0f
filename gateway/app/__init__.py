"""The composition root: the only place that knows every part."""

from gateway.app.assembly import Gateway, assemble
from gateway.app.configuration import (
    change_memory,
    console_place,
    judge_memory,
    load,
    open_store,
    rules_of,
    stand_in,
    start_problems,
)
from gateway.app.desks import (
    delivery_desk,
    erasure_desk,
    export_desk,
    linking_desk,
    memory_of,
    pairing_desk,
    people_desk,
    rehoming_desk,
)
from gateway.app.platforms import MANIFESTS, capabilities, connected, enabled, platform_problems
from gateway.app.start import Start

__all__ = [
    "MANIFESTS",
    "Gateway",
    "Start",
    "assemble",
    "capabilities",
    "change_memory",
    "connected",
    "console_place",
    "delivery_desk",
    "enabled",
    "erasure_desk",
    "export_desk",
    "judge_memory",
    "linking_desk",
    "load",
    "memory_of",
    "open_store",
    "pairing_desk",
    "people_desk",
    "platform_problems",
    "rehoming_desk",
    "rules_of",
    "stand_in",
    "start_problems",
]
