"""How a very small model is spoken to: short manners, example turns, tight budgets.

Measured on Qwen2.5-Coder-0.5B with 38 questions in two languages: 36 right as it stands here,
27 with three examples and 22 without the bias. docs/local-model.md has the figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.agent.prompt import Layout, recall_block

if TYPE_CHECKING:
    from pydantic_ai.settings import ModelSettings

#: with the history the prompt stays far below ``child.CONTEXT_TOKENS`` in any script
_HISTORY_TOKENS = 1000
_SOUL_TOKENS = 40
_RECALL_TOKENS = 200
_MEMORY_TOKENS = 60
_FILE_TOKENS = 200

#: the model takes the person's "my" for its own; as an assistant it hardly ever needs the word
_UNWANTED = ("My", " my", "my", " My", " mine")
_BIAS = -6.0

SETTINGS: ModelSettings = {
    "temperature": 0.0,
    "max_tokens": 400,
    "extra_body": {"logit_bias": [[word, _BIAS] for word in _UNWANTED]},
}


def layout(history_tokens: int, *, name: str) -> Layout:
    """Return the layout of a small model called ``name``.

    The operator's history budget can only lower the model's own.
    """
    return Layout(
        history_tokens=min(history_tokens, _HISTORY_TOKENS),
        soul_tokens=_SOUL_TOKENS,
        recall_tokens=_RECALL_TOKENS,
        memory_tokens=_MEMORY_TOKENS,
        file_tokens=_FILE_TOKENS,
        sees=False,
        examples=_examples(name),
        small=True,
    )


def _examples(name: str) -> tuple[tuple[str, str], ...]:
    """Return the turns that teach who is who; their order was chosen by measuring."""
    return (
        ("Guten Tag!", "Guten Tag! Wie kann ich helfen?"),
        ("Who are you?", f"I am {name}."),
        ("Меня зовут Отто и я живу в Граце.", "Вас зовут Отто и вы живёте в Граце."),
        ("Как меня зовут?", "Вас зовут Отто."),
        ("Hi! I'm Otto and I live in Graz.", "Hi Otto! You live in Graz."),
        ("My horse is called Blitz.", "Your horse is called Blitz."),
        (f"{recall_block('Otto lives in Graz.')}\n\nWhere do I live?", "You live in Graz."),
        ("What is my name?", "Your name is Otto."),
        ("What is my horse called?", "Your horse is called Blitz."),
        ("I like chess.", "You like chess, I will remember that."),
        ("What do I like?", "You like chess."),
    )
