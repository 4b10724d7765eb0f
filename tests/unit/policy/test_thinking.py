"""Which models are asked for conclusions."""

from __future__ import annotations

import pytest

from gateway.policy.thinking import billions, can_think


@pytest.mark.parametrize(
    ("name", "size", "able"),
    [
        ("qwen2.5-coder-0.5b-instruct", 0.5, False),
        ("qwen2.5-coder-1.5b-instruct", 1.5, False),
        ("SmolLM2-135M-Instruct", 0.135, False),
        ("qwen3:8b", 8, True),
        ("llama3.2:3b", 3, True),
        ("llama3.2:1b", 1, False),
        ("Mixtral-8x7B", 7, True),
        ("gpt-6-luna", None, True),
        ("claude-sonnet-5-5", None, True),
        ("gemini-3.8-flash", None, True),
        ("phi-4", None, True),
        ("", None, True),
    ],
)
def test_by_what_the_name_tells(name: str, size: float | None, able: bool) -> None:
    assert billions(name) == size
    assert can_think(name) is able
