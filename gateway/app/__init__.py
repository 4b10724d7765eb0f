"""The composition root: the only place that knows every part.

A part is imported when its name is first asked for: most commands need few of them.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gateway.app.assembly import Gateway, assemble
    from gateway.app.configuration import (
        console_place,
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
    from gateway.app.loading import change_memory, judge_memory, load
    from gateway.app.platforms import (
        MANIFESTS,
        capabilities,
        connected,
        enabled,
        platform_problems,
    )
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

#: where the names are, what is quickly imported first
_MODULES = ("platforms", "loading", "configuration", "start", "desks", "assembly")


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            found = importlib.import_module(f"{__name__}.{module}")
            if hasattr(found, name):
                return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
