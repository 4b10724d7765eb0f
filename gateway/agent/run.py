"""The agent on a language model: one turn as a loop of model requests and tool calls.

Before each model request, and before each round of tool calls, what happened so far is
committed; a later run of the same turn goes on from there.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, Protocol

import structlog
from pydantic_ai import Agent as Loop
from pydantic_ai import UsageLimits
from pydantic_ai.messages import (
    BinaryImage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import RunUsage

from gateway.agent import errors, pictures
from gateway.agent.handing import handed
from gateway.agent.prompt import Layout, Persona, compose
from gateway.agent.steps import GuardedTools, commit, load
from gateway.agent.transcript import Transcript
from gateway.model.errors import AgentError
from gateway.ports import Answer, TurnRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable, Iterator, Sequence

    from pydantic_ai import AgentRun, Tool
    from pydantic_ai.messages import AgentStreamEvent, BinaryContent, ModelMessage
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from gateway.agent.prompt import Prompt
    from gateway.model.files import MadeFile
    from gateway.ports import StepLog

log = structlog.get_logger(__name__)

#: share of the history budget that is left after a model found the prompt too long
_SHRINK = 4


class ModelSource(Protocol):
    """Where the model comes from; it may have to be started or looked for first."""

    async def open(self) -> Model:
        """Return the model, ready for requests. Raises ``AgentError``."""
        ...

    async def aclose(self) -> None:
        """Release connections and child processes."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What one turn may cost. ``timeout`` is in seconds."""

    requests: int = 8
    timeout: float = 120.0


@dataclass(slots=True)
class _Progress:
    """What has come of a turn so far; it outlives a run that is stopped."""

    transcript: Transcript
    usage: RunUsage = field(default_factory=RunUsage)
    response: ModelResponse | None = None
    #: what was handed over, once the model has said its last word
    files: tuple[MadeFile, ...] = ()

    def answer(self, *, stopped: bool = False) -> Answer:
        names = (self.response.provider_name, self.response.model_name) if self.response else ()
        return Answer(
            self.transcript.text,
            stopped=stopped,
            files=self.files,
            model=":".join(name for name in names if name),
            requests=self.usage.requests,
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
        )


class ModelAgent:
    """``gateway.ports.Agent`` on any model of the library.

    Tools get the ``TurnRequest`` as their ``deps``. (turn, ``tool_call_id``) names one call over
    all runs of the turn, so it is what writes are de-duplicated by.
    """

    def __init__(
        self,
        source: ModelSource,
        persona: Persona,
        *,
        layout: Layout | None = None,
        limits: Limits | None = None,
        tools: Sequence[Tool[TurnRequest]] = (),
        settings: ModelSettings | None = None,
    ) -> None:
        self._source = source
        self._persona = persona
        self._layout = layout or Layout()
        self._limits = limits or Limits()
        self._tools = FunctionToolset(tools)
        self._loop: Loop[TurnRequest, str | None] = Loop(
            deps_type=TurnRequest,
            output_type=[str, NoneType],
            model_settings=settings,
        )

    async def run(
        self,
        request: TurnRequest,
        *,
        steps: StepLog,
        emit: Callable[[str], None],
        stop: asyncio.Event,
    ) -> Answer:
        """See ``gateway.ports.Agent``."""
        progress = _Progress(Transcript(emit))
        work = asyncio.create_task(self._answer(request, steps, progress))
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait(
                {work, stopped},
                timeout=self._limits.timeout,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if work.done():
                return work.result()
        except errors.CAUGHT as error:
            # its body may repeat the conversation: it must not get into a traceback
            raise errors.translate(error) from None
        finally:
            await _end(work, stopped)
        if stop.is_set():
            return progress.answer(stopped=True)
        raise AgentError(
            f"no answer after {self._limits.timeout:g} s: model.timeout is the limit for a turn",
            code="turn_timeout",
            user_text="failed.timeout",
        )

    async def aclose(self) -> None:
        """See ``gateway.ports.Agent``."""
        await self._source.aclose()

    async def _answer(self, request: TurnRequest, log_: StepLog, progress: _Progress) -> Answer:
        stored = await load(log_)
        for response in stored.responses:
            progress.response = response
            _replay(response, progress.transcript)
        progress.usage = stored.usage()
        if stored.finished:
            progress.files = handed(stored.messages)
            return progress.answer()
        layout = self._layout
        while True:
            prompt = compose(request, self._persona, layout)
            if prompt.wordless:
                raise AgentError(
                    "the turn holds nothing but pictures, and the model takes none",
                    code="blind",
                    user_text="failed.blind",
                )
            try:
                return await self._converse(request, prompt, log_, progress)
            except errors.CAUGHT as error:
                less = self._less(layout, prompt, error)
                if less is None or compose(request, self._persona, less) == prompt:
                    raise
            layout = less
            log.warning(
                "agent.prompt_shrunk",
                action="agent",
                turn=request.turn,
                tokens=layout.history_tokens,
                pictures=layout.sees,
            )

    def _less(self, layout: Layout, prompt: Prompt, error: Exception) -> Layout | None:
        """Return a smaller layout for a model that refused ``prompt``; None: there is none."""
        whole = layout.history_tokens == self._layout.history_tokens
        if errors.context_too_long(error) and whole:
            return replace(
                layout,
                history_tokens=layout.history_tokens // _SHRINK,
                file_tokens=layout.file_tokens // _SHRINK,
            )
        if prompt.pictures and errors.picture_refused(error):
            return replace(layout, sees=False)
        return None

    async def _converse(
        self, request: TurnRequest, prompt: Prompt, log_: StepLog, progress: _Progress
    ) -> Answer:
        stored = await load(log_)
        seen = await pictures.load(prompt.pictures)
        model = await self._source.open()
        async with self._loop.iter(
            None,
            output_type=_outputs(model),
            message_history=[*_messages(prompt, seen), *stored.messages],
            instructions=prompt.instructions,
            model=model,
            deps=request,
            toolsets=[GuardedTools(self._tools, started=stored.started)],
            usage_limits=UsageLimits(request_limit=self._limits.requests),
            usage=stored.usage(),
        ) as run:
            await _drive(run, log_, progress)
            progress.files = handed(run.all_messages())
        return progress.answer()


def _outputs(model: Model) -> Any:
    """Return what may end a turn: words, nothing, and a picture where the model makes any."""
    # models that stand in for one another share one request
    models = model.models if isinstance(model, FallbackModel) else [model]
    paint = all(each.profile.get("supports_image_output") for each in models)
    return [str, NoneType, *([BinaryImage] if paint else [])]


async def _drive(run: AgentRun[TurnRequest, Any], log_: StepLog, progress: _Progress) -> None:
    known = True  # the loop's first message is the last one of the history
    async for node in run:
        progress.usage = run.usage
        if Loop.is_model_request_node(node):
            if not known:
                await commit(log_, node.request)
            async with node.stream(run.ctx) as events:
                try:
                    await _listen(events, progress.transcript)
                finally:
                    progress.response = events.response
        elif Loop.is_call_tools_node(node):
            progress.response = node.model_response
            if not known:
                await commit(log_, node.model_response)
        else:
            continue
        known = False


async def _listen(events: AsyncIterable[AgentStreamEvent], transcript: Transcript) -> None:
    async for event in events:
        match event:
            case PartStartEvent(part=TextPart(content=text)):
                transcript.begin()
                transcript.add(text)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                transcript.add(text)
            case _:
                pass


def _replay(response: ModelResponse, transcript: Transcript) -> None:
    for part in response.parts:
        if isinstance(part, TextPart):
            transcript.begin()
            transcript.add(part.content)


def _messages(prompt: Prompt, seen: Sequence[BinaryContent]) -> Iterator[ModelMessage]:
    for exchange in prompt.history:
        yield ModelRequest(parts=[UserPromptPart(exchange.said)])
        yield ModelResponse(parts=[TextPart(exchange.answer)])
    yield ModelRequest(parts=[UserPromptPart([prompt.last, *seen] if seen else prompt.last)])


async def _end(*tasks: asyncio.Task[object]) -> None:
    """Cancel what still runs and wait for it, so that connections are closed when we return."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
