"""Pure: rich text becomes Discord Markdown that shows exactly the visible text."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

from adapters.discord.ranges import nested
from gateway.model.outbound import SpanKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model.outbound import RichText
    from gateway.text.ranges import Range

#: An address as Discord's apps find it. Nothing in it may be escaped, or it leads nowhere, and
#: it must end in front of our own marks.
_BARE_ADDRESS = re.compile(r"(https?://[^\s<>`]+[^<>`.,:;\"')\]\s])")
_WEB = ("http://", "https://")
_SPECIAL = re.compile(r"[\\*_~`|<\[\]]")
#: what makes a heading, a quote, small print or a list of a line
_HEAD = re.compile(r"^([^\S\n]*)(?:(#{1,3}(?=\s)|-#(?=\s)|-(?=\s)|>)|(\d+)(?=\.\s))", re.MULTILINE)
_LANGUAGE = re.compile(r"[A-Za-z0-9_+\-.#]+")
_UNSAFE_IN_ADDRESS = re.compile(r"[<>\s\x00-\x1f\x7f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
#: keeps backticks apart that would end a block; nobody sees it
_GAP = "\u200b"

_MARKS = {SpanKind.BOLD: "**", SpanKind.STRIKE: "~~"}


def render(content: RichText) -> str:
    """Return the ``content`` of a message; ``size`` is its length.

    Formatting that Discord cannot show at its place gives way, words never do. A mention in the
    text stays readable: who is pinged is decided by ``allowed_mentions`` alone. A lone
    surrogate, which no request can carry, becomes U+FFFD.
    """
    text = _SURROGATES.sub("\ufffd", content.text)
    return _Renderer(text, nested(text, content.spans)).markdown()


def size(content: RichText) -> int:
    """Return how many of a message's code points ``content`` takes."""
    return len(render(content))


class _Renderer:
    """One text being written; ``_at`` only goes forward, so that no word comes twice."""

    def __init__(self, text: str, ranges: Sequence[Range]) -> None:
        self._text = text
        self._ranges = deque(ranges)
        self._at = 0
        self._out: list[str] = []
        self._quoting = False

    def markdown(self) -> str:
        self._write_to(len(self._text))
        return "".join(self._out)

    def _write_to(self, end: int) -> None:
        while self._ranges and self._ranges[0].start < end:
            item = self._ranges.popleft()
            self._plain_to(item.start)
            self._write(item)
        self._plain_to(end)

    def _plain_to(self, end: int) -> None:
        if end > self._at:
            self._put(_escaped(self._text[self._at : end]))
            self._at = end

    def _write(self, item: Range) -> None:
        match item.kind:
            case SpanKind.QUOTE:
                self._quote(item)
            case SpanKind.HEADING:
                self._heading(item)
            case SpanKind.PRE:
                self._code(item, _block(self._text[item.start : item.end], item.value))
            case SpanKind.CODE:
                self._code(item, _inline_code(self._text[item.start : item.end]))
            case SpanKind.LINK:
                self._link(item)
            case _:
                mark = _MARKS.get(item.kind) or self._italic_mark(item)
                self._marked(item, mark, mark)

    def _quote(self, item: Range) -> None:
        if not self._at_line_start():
            self._put("\n")
        self._put("> ")
        self._quoting = True
        self._write_to(item.end)
        self._quoting = False
        if self._text[item.end : item.end + 1] not in ("", "\n"):
            self._put("\n")

    def _heading(self, item: Range) -> None:
        if self._at_line_start():
            level = int(item.value) if item.value.isdecimal() else 1
            self._put("#" * min(max(level, 1), 3) + " ")
        self._write_to(item.end)

    def _code(self, item: Range, markdown: str) -> None:
        if self._out and self._out[-1].endswith("`") and not self._out[-1].endswith("\\`"):
            self._put("\n")  # two codes side by side would be one
        self._put(markdown)
        self._at = item.end
        while self._ranges and self._ranges[0].start < item.end:
            self._ranges.popleft()

    def _link(self, item: Range) -> None:
        """Mask an address only where Discord does: behind words that are no address."""
        words, address = self._text[item.start : item.end], item.value
        if not address.startswith(_WEB):
            self._marked(item, "", "" if _shows(words, address) else f" ({_escaped(address)})")
        elif words.startswith(_WEB) and address.startswith(words):
            self._write_to(item.end)
        elif "://" in words:
            self._marked(item, "", f" (<{_safe(address)}>)")
        else:
            self._marked(item, "[", f"](<{_safe(address)}>)")

    def _marked(self, item: Range, opening: str, closing: str) -> None:
        """Put marks around the words; one beside a blank would mark nothing."""
        words = self._text[item.start : item.end]
        if not words.strip():
            self._write_to(item.end)
            return
        self._write_to(item.start + len(words) - len(words.lstrip()))
        self._put(opening)
        self._write_to(item.start + len(words.rstrip()))
        self._put(closing)
        self._write_to(item.end)

    def _italic_mark(self, item: Range) -> str:
        around = self._text[item.start - 1 : item.start] + self._text[item.end : item.end + 1]
        return "*" if any(char.isalnum() for char in around) else "_"

    def _at_line_start(self) -> bool:
        written = "".join(self._out[-2:])
        return not written or written.endswith(("\n", "\n> ")) or written == "> "

    def _put(self, markdown: str) -> None:
        if markdown:
            self._out.append(markdown.replace("\n", "\n> ") if self._quoting else markdown)


def _escaped(text: str) -> str:
    """Return Markdown that shows ``text``, its addresses as links."""
    pieces = _BARE_ADDRESS.split(text)
    pieces[::2] = (_SPECIAL.sub(r"\\\g<0>", piece) for piece in pieces[::2])
    pieces[1::2] = (f"<{address}>" for address in pieces[1::2])
    return _HEAD.sub(_guarded, "".join(pieces))


def _guarded(head: re.Match[str]) -> str:
    indent, mark, number = head.groups()
    return f"{indent}\\{mark}" if mark else f"{indent}{number}\\"


def _block(code: str, language: str) -> str:
    name = language if _LANGUAGE.fullmatch(language) else ""
    return f"```{name}\n{code.replace('``', f'`{_GAP}`')}\n```"


def _inline_code(code: str) -> str:
    """Return a span of code; a blank beside a backtick at the edge is not shown."""
    if "`" not in code:
        return f"`{code}`"
    code = re.sub("`(?=`)", f"`{_GAP}", code)
    left = " " if code.startswith("`") else ""
    right = " " if code.endswith("`") else ""
    return f"``{left}{code}{right}``"


def _safe(address: str) -> str:
    return _UNSAFE_IN_ADDRESS.sub(_percent, address)


def _percent(char: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in char.group().encode())


def _shows(words: str, address: str) -> bool:
    return words.strip() in (
        address,
        address.removeprefix("mailto:"),
        address.removeprefix("tel:"),
    )
