"""What of a running answer stands on the screen for good. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from adapters.console.render import cut
from gateway.text.markup import parse

if TYPE_CHECKING:
    from gateway.model.outbound import RichText

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
#: the start of a line that may still belong to the block before it, whatever comes
_MAY_CONTINUE = re.compile(r"[\s\d\-*+>|]|$")


def settled_length(text: str, start: int = 0) -> int:
    """Return how much of Markdown ``text`` later text can no longer change.

    That is up to the last blank line outside a code fence that a line follows which begins a
    block of its own. ``start`` is an earlier result for the same text.
    """
    settled = at = start
    fence, blank = "", False
    for line in text[start:].splitlines(keepends=True):
        if blank and not fence and not _MAY_CONTINUE.match(line):
            settled = at
        if found := _FENCE.match(line):
            mark = found.group(1)
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not line.strip(mark[0] + " \t\r\n"):
                fence = ""
        blank = not line.strip()
        at += len(line)
    return settled


class Draft:
    """The answer of one turn while it is written."""

    def __init__(self, turn: str) -> None:
        self.turn = turn
        self._source = ""
        self._shown = ""

    def advance(self, text: str) -> RichText | None:
        """Take the whole answer so far; return what can now be shown for good, if anything."""
        if not text.startswith(self._source):
            return None
        length = settled_length(text, len(self._source))
        if length == len(self._source):
            return None
        whole = parse(text[:length].rstrip())
        if len(whole.text) <= len(self._shown) or not whole.text.startswith(self._shown):
            return None
        fresh = self.rest(whole)
        self._source, self._shown = text[:length], whole.text
        return fresh

    def tail(self, text: str) -> str:
        """Return the end of ``text`` that is not shown for good."""
        return text.removeprefix(self._source)

    def rest(self, content: RichText) -> RichText:
        """Return what of ``content`` is not shown yet: all of it when it begins otherwise."""
        if not self._shown or not content.text.startswith(self._shown):
            return content
        return cut(content, len(self._shown) + content.text.startswith("\n", len(self._shown)))
