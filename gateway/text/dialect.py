"""The Markdown that models write, as a configured markdown-it parser that loses no text.

What differs from CommonMark: tables and strikethrough; no HTML and no reference definitions,
both stay as text; links lead to a few schemes only; emphasis may touch Chinese, Japanese and
Korean letters; cells beyond a table's header are kept; backticks that are only talked about open
no code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex
from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block.table import escapedSplit, getLine
from markdown_it.rules_block.table import table as standard_table
from markdown_it.rules_inline.state_inline import Scanned, StateInline

if TYPE_CHECKING:
    from markdown_it.rules_block.state_block import StateBlock
    from markdown_it.rules_core.state_core import StateCore
    from markdown_it.token import Token
    from markdown_it.utils import EnvType

#: quotes and lists within each other; markdown-it drops what is nested deeper
MAX_NESTING = 40

#: key of a list item's ``meta``: the box of a task
TASK = "task"

_SCHEMES = regex.compile(r"(?:https?|mailto|tg|tel):", regex.IGNORECASE)
_CJK = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}]")
_SPOKEN_RUN = regex.compile(r"`{3,}+(?=\s|$)")
_RUN = regex.compile(r"`++")
_TASK_BOX = regex.compile(r"\[([ xX])\]\s+(?=\S)")


def build() -> MarkdownIt:
    """Return the parser; it holds no state of a document and may be shared."""
    parser = _Markdown("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"]).disable("reference")
    parser.block.ruler.at("table", _table, {"alt": ["paragraph"]})
    parser.inline.ruler.before("backticks", "spoken_backticks", _spoken_backticks)
    parser.core.ruler.before("inline", "tasks", _tasks)
    return parser


class _Markdown(MarkdownIt):
    def __init__(self, config: str, options: dict[str, object]) -> None:
        super().__init__(config, options)
        inline = _Inline()
        self.inline, standard = inline, self.inline
        inline.ruler, inline.ruler2 = standard.ruler, standard.ruler2

    def validateLink(self, url: str) -> bool:
        return _SCHEMES.match(url) is not None

    def normalizeLinkText(self, link: str) -> str:
        return link


class _Inline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _State(StateInline):
    """Lets ``**注意：**请`` close: a letter without spaces around it is as good as a space."""

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:
        scanned = super().scanDelims(start, canSplitWord)
        if not canSplitWord:
            return scanned
        end = start + scanned.length
        before, after = self.src[start - 1 : start], self.src[end : end + 1]
        return Scanned(
            scanned.can_open or (bool(after.strip()) and _CJK.match(before) is not None),
            scanned.can_close or (bool(before.strip()) and _CJK.match(after) is not None),
            scanned.length,
        )


def _spoken_backticks(state: StateInline, silent: bool) -> bool:
    """Keep ``type ``` to open, ``` to close`` literal, unless the span holds other backticks."""
    run = _SPOKEN_RUN.match(state.src, state.pos)
    if run is None:
        return False
    following = _RUN.search(state.src, run.end())
    if following is not None and len(following.group()) != len(run.group()):
        return False
    if not silent:
        state.append_pending(run.group())
    state.pos = run.end()
    return True


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a table, then put cells beyond the header's into the last one."""
    first = len(state.tokens)
    if not standard_table(state, start, end, silent):
        return False
    row: list[Token] = []
    for token in state.tokens[first:]:
        if token.type == "tr_open":
            row = []
        elif token.type == "inline":
            row.append(token)
        elif token.type == "tr_close":
            _keep_surplus(state, row)
    return True


def _keep_surplus(state: StateBlock, row: list[Token]) -> None:
    last = row[-1]
    line = getLine(state, last.map[0] if last.map else state.line).strip()
    if line.count("|") < len(row):
        return
    cells = escapedSplit(line)
    cells = cells[not cells[0] : len(cells) - (not cells[-1])]
    if len(cells) > len(row):
        last.content = " | ".join(cell.strip() for cell in cells[len(row) - 1 :])


def _tasks(state: StateCore) -> None:
    """Move ``[x]`` at the head of a list item from its text to the item's ``meta``."""
    tokens = state.tokens
    for item, _paragraph, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if item.type == "list_item_open" and inline.type == "inline":
            box = _TASK_BOX.match(inline.content)
            if box is not None:
                item.meta[TASK] = "☐" if box.group(1) == " " else "☑"
                inline.content = inline.content[box.end() :]
