"""Putting somebody's words into a Markdown text of ours without their becoming markup."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>])")


def escape(words: str) -> str:
    """Return ``words`` so that Markdown shows them as they are."""
    return _SPECIAL.sub(r"\\\1", words)
