"""The committed steps of a turn: what a run stores and how a later run goes on from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_ai import ToolFailed
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
from pydantic_ai.usage import RunUsage

from gateway.model.errors import GatewayError, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.toolsets import ToolsetTool

    from gateway.ports import StepLog, TurnRequest

#: key of ``Tool.metadata``; true where a second call with the same arguments changes nothing
IDEMPOTENT = "idempotent"

_UNCERTAIN = (
    "This call was interrupted and may or may not have taken effect. Look before you repeat it."
)


@dataclass(frozen=True, slots=True)
class Stored:
    """The steps of an earlier run of the same turn; each is one message."""

    messages: tuple[ModelMessage, ...] = ()

    @property
    def responses(self) -> list[ModelResponse]:
        """What the model said, oldest first."""
        return [one for one in self.messages if isinstance(one, ModelResponse)]

    @property
    def last_response(self) -> ModelResponse | None:
        """The response whose consequences are not stored, if the last step is one."""
        last = self.messages[-1] if self.messages else None
        return last if isinstance(last, ModelResponse) else None

    @property
    def finished(self) -> bool:
        """Whether the model had already said its last word."""
        return self.last_response is not None and not self.last_response.tool_calls

    @property
    def started(self) -> frozenset[str]:
        """Ids of calls that may have run although no result of theirs is stored."""
        calls = self.last_response.tool_calls if self.last_response else ()
        return frozenset(call.tool_call_id for call in calls)

    def usage(self) -> RunUsage:
        """Return what the earlier run has used up of the turn's limits."""
        usage = RunUsage()
        for response in self.responses:
            usage.incr(response.usage)
        usage.requests = len(self.responses)
        return usage


async def load(log: StepLog) -> Stored:
    """Read the steps of the turn that were committed before."""
    return Stored(
        tuple(
            message
            for step in await log.load()
            for message in ModelMessagesTypeAdapter.validate_json(step)
        )
    )


async def commit(log: StepLog, message: ModelMessage) -> None:
    """Store one message as a step."""
    await log.append(ModelMessagesTypeAdapter.dump_json([message]).decode())


@dataclass
class GuardedTools(WrapperToolset["TurnRequest"]):
    """Tools of one run.

    A call that an earlier run had started is made again only if its tool is idempotent; the
    gateway's own errors are told to the model, except those of the store, which end the run.
    """

    started: frozenset[str] = frozenset()

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[TurnRequest],
        tool: ToolsetTool[TurnRequest],
    ) -> Any:
        metadata = tool.tool_def.metadata or {}
        if ctx.tool_call_id in self.started and not metadata.get(IDEMPOTENT):
            raise ToolFailed(_UNCERTAIN)
        try:
            return await super().call_tool(name, tool_args, ctx, tool)
        except StoreError:
            raise
        except GatewayError as error:
            raise ToolFailed(str(error)) from error


def guarded(
    toolsets: Sequence[AbstractToolset[TurnRequest]], stored: Stored
) -> list[AbstractToolset[TurnRequest]]:
    """Wrap the toolsets for a run that goes on from ``stored``."""
    return [GuardedTools(one, started=stored.started) for one in toolsets]
