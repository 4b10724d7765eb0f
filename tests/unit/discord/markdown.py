"""A reader of Discord's Markdown as far as the adapter writes it: what a person would see."""

from __future__ import annotations

import re

#: in the order in which Discord tries them
_RULES = re.compile(
    r"```(?:[A-Za-z0-9_+\-.#]*\n)?(?P<block>.*?)\n?```"
    r"|``(?P<double>.+?)``(?!`)"
    r"|`(?P<code>[^`]+)`"
    r"|\\(?P<escaped>[^0-9A-Za-z\s])"
    r"|<(?P<link>https?://[^ >]+)>"
    r"|(?P<url>https?://[^\s<]+[^<.,:;\"')\]\s])"
    r"| \(<(?P<told>[^>]*)>\)"
    r"|\]\(<(?P<target>[^>]*)>\)"
    r"|(?P<mark>\*+|_+|~~|\[)",
    re.DOTALL,
)
_HEADING = re.compile(r"#{1,3} ")


def shown(markdown: str) -> str:
    """Return the visible text."""
    return _RULES.sub(_visible, "\n".join(_without_heads(markdown.split("\n"))))


def _without_heads(lines: list[str]) -> list[str]:
    """Remove the marks of quotes and headings; a block of code has only its quote's."""
    found, in_block, quoted = [], False, False
    for line in lines:
        if not in_block:
            quoted = line.startswith("> ")
        kept = line[2:] if quoted else line
        found.append(
            kept if in_block else _HEADING.sub("", kept, count=1) if _HEADING.match(kept) else kept
        )
        in_block ^= kept.count("```") % 2 == 1
    return found


def _visible(match: re.Match[str]) -> str:
    for name in ("block", "double", "code", "escaped", "link", "url"):
        if match[name] is not None:
            return match[name]
    return ""
