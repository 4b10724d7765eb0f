"""One-shot calls of the configured model: a form to fill in, or a text."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic_ai import Agent as Loop
from pydantic_ai import UsageLimits

from gateway.agent import errors
from gateway.model.errors import AgentError, Disposition

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.usage import RunUsage

    from gateway.agent.run import ModelSource
    from gateway.ports.thinking import Prompt, Shape, Usage

#: requests of one call: a form that was filled in wrongly is handed back once
_REQUESTS = 2


class ModelCompleter:
    """``gateway.ports.Completer`` on any model of the library."""

    def __init__(
        self, source: ModelSource, label: str, *, shares_machine: bool, timeout: float
    ) -> None:
        """``timeout``: seconds for one call, however many requests it takes."""
        self._source = source
        self._label = label
        self._shares_machine = shares_machine
        self._timeout = timeout

    @property
    def label(self) -> str:
        """See ``gateway.ports.Completer``."""
        return self._label

    @property
    def shares_machine(self) -> bool:
        """See ``gateway.ports.Completer``."""
        return self._shares_machine

    async def complete(self, prompt: Prompt, shape: type[Shape], usage: Usage) -> Shape:
        """See ``gateway.ports.Completer``."""
        loop = Loop(
            instructions=prompt.instructions,
            output_type=shape,
            model_settings=_settings(prompt),
            retries=_REQUESTS - 1,
        )
        with _translated():
            async with asyncio.timeout(self._timeout):
                result = await loop.run(
                    prompt.text,
                    model=await self._source.open(),
                    usage_limits=UsageLimits(request_limit=_REQUESTS),
                )
        _add(usage, result.usage)
        return result.output

    async def stream(self, prompt: Prompt, usage: Usage) -> AsyncGenerator[str]:
        """See ``gateway.ports.Completer``."""
        loop = Loop(instructions=prompt.instructions, model_settings=_settings(prompt))
        with _translated():
            async with (
                asyncio.timeout(self._timeout),
                loop.run_stream(
                    prompt.text,
                    model=await self._source.open(),
                    usage_limits=UsageLimits(request_limit=1),
                ) as result,
            ):
                async for piece in result.stream_text(delta=True):
                    yield piece
                _add(usage, result.usage)

    async def aclose(self) -> None:
        """See ``gateway.ports.Completer``."""
        await self._source.aclose()


def _settings(prompt: Prompt) -> ModelSettings:
    return {"max_tokens": prompt.tokens}


def _add(usage: Usage, used: RunUsage) -> None:
    usage.input_tokens += used.input_tokens
    usage.output_tokens += used.output_tokens


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except errors.CAUGHT as error:
        # its body may repeat the conversation: it must not get into a traceback
        raise errors.translate(error) from None
    except TimeoutError:
        raise AgentError(
            "no answer in time", code="model_timeout", disposition=Disposition.RETRY
        ) from None
