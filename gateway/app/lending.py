"""What the configuration lends to the parts: a model and an encoder to think with, an ear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.mailbox import items
from gateway.memory.embedded.mind import Faculties
from gateway.pipeline.addresses import TURN

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.memory.lane import Puts
    from gateway.ports import Completer, Embedder, Transcriber
    from gateway.settings.read import Loaded


def lend(
    loaded: Loaded,
    mailbox: Puts,
    completer: Callable[[], Completer | None],
    embedder: Callable[[], Embedder | None],
) -> Faculties:
    """Return what the embedded memory may think with. Raises ``ConfigurationError``."""
    memory = loaded.settings.memory
    return Faculties(
        mailbox=mailbox,
        completer=completer() if memory.derivation == "auto" else None,
        embedder=embedder(),
        calls_per_hour=memory.calls_per_hour,
        busy=lambda conn: items.any_live(conn, TURN),
    )


def transcriber(loaded: Loaded) -> Transcriber | None:
    """Return what writes recordings down, None where nothing does."""
    settings = loaded.settings.voice.transcribe
    if settings is None:
        return None
    from gateway.agent.transcribe import SpeechEndpoint  # not every start should load it

    key = loaded.secrets.get("TRANSCRIBE_API_KEY") or loaded.secrets.get("OPENAI_API_KEY")
    return SpeechEndpoint(settings, key or "")
