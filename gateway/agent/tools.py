"""The gateway's tools as the model library wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_ai import Tool

from gateway.agent.steps import IDEMPOTENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai import RunContext
    from pydantic_ai.tools import ToolDefinition

    from gateway.ports import AgentTool, TurnRequest


def adapt(tools: Sequence[AgentTool]) -> list[Tool[TurnRequest]]:
    """Return the tools for a loop whose ``deps`` is the ``TurnRequest``."""
    return [_adapt(tool) for tool in tools]


def _adapt(tool: AgentTool) -> Tool[TurnRequest]:
    async def call(ctx: RunContext[TurnRequest], **arguments: Any) -> str:
        return await tool.call(ctx.deps, arguments)

    async def prepare(
        ctx: RunContext[TurnRequest], definition: ToolDefinition
    ) -> ToolDefinition | None:
        return definition if tool.visible(ctx.deps) else None

    adapted: Tool[TurnRequest] = Tool.from_schema(
        call,
        name=tool.name,
        description=tool.description,
        json_schema=dict(tool.parameters),
        takes_ctx=True,
    )
    adapted.prepare = prepare
    adapted.metadata = {IDEMPOTENT: tool.idempotent}
    return adapted
