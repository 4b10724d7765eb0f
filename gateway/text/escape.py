"""Turns any text into Markdown that shows exactly that text."""

from __future__ import annotations

import regex

_ANYWHERE = regex.compile(r"[\\`*_~\[\]<&|]")
#: what opens a block at the head of a line: headings, quotes, lists, rules
_HEAD = regex.compile(r"^[#>+=-]|^(\d{1,9})(?=[.)])", regex.MULTILINE)
#: indentation would make code of a line, and spaces at its end a break
_EDGES = regex.compile(r"^[^\S\n]+|[^\S\n]+$", regex.MULTILINE)


def escape(text: str) -> str:
    """Return Markdown whose visible text is ``text``, white space around lines aside."""
    text = _ANYWHERE.sub(r"\\\g<0>", _EDGES.sub("", text))
    return _HEAD.sub(_guard, text)


def _guard(head: regex.Match[str]) -> str:
    number = head.group(1)
    return f"\\{head.group()}" if number is None else f"{number}\\"
