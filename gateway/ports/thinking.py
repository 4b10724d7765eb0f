"""One-shot calls of a model and of an encoder, for whoever thinks about what was said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request. ``text`` is data: whatever it asks for, only ``instructions`` are followed."""

    instructions: str
    text: str
    #: most tokens of the answer
    tokens: int = 1000


@dataclass(slots=True)
class Usage:
    """Tokens that requests took, added up as they become known."""

    input_tokens: int = 0
    output_tokens: int = 0


class Completer(Protocol):
    """A model that is able to think about people. Every call raises ``AgentError`` only."""

    @property
    def label(self) -> str:
        """``provider:name``."""
        ...

    @property
    def shares_machine(self) -> bool:
        """Whether it runs on this machine, where a waiting person comes first."""
        ...

    async def complete(self, prompt: Prompt, shape: type[Shape], usage: Usage) -> Shape:
        """Return the answer in the form of ``shape``."""
        ...

    def stream(self, prompt: Prompt, usage: Usage) -> AsyncGenerator[str]:
        """Yield the answer as text, piece by piece."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors whose angles tell how close they are in meaning."""

    @property
    def model(self) -> str:
        """Name of the model: vectors of different names cannot be compared."""
        ...

    @property
    def eager(self) -> bool:
        """Whether texts may be encoded as they come; else only when somebody asks."""
        ...

    @property
    def floor(self) -> float:
        """Cosine below which two texts have nothing in common."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector of length 1 for each text. Raises ``AgentError``."""
        ...

    async def aclose(self) -> None:
        """Release connections and what is loaded."""
        ...
