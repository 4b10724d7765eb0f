"""How a very small model is spoken to: short manners, example turns, tight budgets.

Measured on Qwen2.5-Coder-0.5B: without examples it takes "my" for its own, with a repeat penalty
it gets worse, and every hundred tokens of prompt cost about 0.7 s on two cores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.agent.prompt import Layout

if TYPE_CHECKING:
    from pydantic_ai.settings import ModelSettings

EXAMPLES = (
    (
        "My cat is called Tom and I live in Oslo.",
        "Noted: your cat is called Tom and you live in Oslo.",
    ),
    ("Where do I live?", "You live in Oslo."),
    ("Guten Tag!", "Guten Tag! Wie kann ich helfen?"),
)

SETTINGS: ModelSettings = {"temperature": 0.0, "max_tokens": 400}


def layout(history_tokens: int) -> Layout:
    """Return the layout of a small model; the operator's history budget can only lower it."""
    return Layout(
        history_tokens=min(history_tokens, 1000),
        soul_tokens=60,
        recall_tokens=200,
        examples=EXAMPLES,
        small=True,
    )
