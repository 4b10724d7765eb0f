"""The secrets of this gateway, kept so that printing them shows nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gateway.policy.redact import MASK

NAMES = (
    "TELEGRAM_BOT_TOKEN",
    "DISCORD_BOT_TOKEN",
    "SLACK_BOT_TOKEN",
    "SLACK_APP_TOKEN",
    "SLACK_SIGNING_SECRET",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GOOGLE_API_KEY",
    "HONCHO_API_KEY",
    "EMBEDDINGS_API_KEY",
    "TRANSCRIBE_API_KEY",
)


class Secrets(Mapping[str, str]):
    """The secrets that are set, by their environment names; empty ones are not there."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = {name: value for name, value in (values or {}).items() if value}

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={MASK}" for name in self._values)
        return f"Secrets({inside})"

    def tokens(self, name: str) -> tuple[str, ...]:
        """Return the tokens of a name that takes several, separated by commas, each once."""
        pieces = (piece.strip() for piece in self._values.get(name, "").split(","))
        return tuple(dict.fromkeys(piece for piece in pieces if piece))
