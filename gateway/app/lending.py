"""What the embedded memory service gets to think with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.mailbox import items
from gateway.memory.embedded.mind import Faculties
from gateway.pipeline.addresses import TURN

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.memory.lane import Puts
    from gateway.ports import Completer, Embedder
    from gateway.settings.read import Loaded


def lend(
    loaded: Loaded,
    mailbox: Puts,
    *,
    completer: Callable[[], Completer | None],
    embedder: Callable[[], Embedder | None],
) -> Faculties:
    """Return it as the settings say. Raises ``ConfigurationError``."""
    memory = loaded.settings.memory
    return Faculties(
        mailbox=mailbox,
        completer=completer() if memory.derivation == "auto" else None,
        embedder=embedder(),
        calls_per_hour=memory.calls_per_hour,
        busy=lambda conn: items.any_live(conn, TURN),
    )
