"""``RichText`` as styled lines for a terminal. Imported where there is one: Rich is not light."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from adapters.console.render import neutralised, shows_address
from gateway.model.outbound import SpanKind

if TYPE_CHECKING:
    from gateway.model.outbound import RichText, Span

_STYLE = {
    SpanKind.BOLD: "bold",
    SpanKind.ITALIC: "italic",
    SpanKind.STRIKE: "strike",
    SpanKind.CODE: "cyan",
    SpanKind.PRE: "cyan",
    SpanKind.LINK: "underline",
    SpanKind.QUOTE: "dim italic",
    SpanKind.HEADING: "bold",
}


def styled(content: RichText, width: int) -> str:
    """Return lines for a terminal of ``width`` columns; obeys ``NO_COLOR`` and ``TERM=dumb``.

    Characters that steer terminals are neutralised, and a link shows where it leads.
    """
    target = io.StringIO()
    console = Console(file=target, force_terminal=True, width=width, legacy_windows=False)
    code = _code_lines(content)
    for number, line in enumerate(_styled_text(content).split("\n", allow_blank=True)):
        console.print(line, soft_wrap=number in code, highlight=False)
    return target.getvalue()


def _code_lines(content: RichText) -> set[int]:
    """Return the numbers of the lines that must be copied as they are: they are not wrapped."""
    lines: set[int] = set()
    for span in content.spans:
        if span.kind is SpanKind.PRE:
            first = content.text.count("\n", 0, span.start)
            lines.update(range(first, first + content.text.count("\n", span.start, span.end) + 1))
    return lines


def _styled_text(content: RichText) -> Text:
    whole = Text(neutralised(content.text))
    for span in content.spans:
        whole.stylize(_STYLE[span.kind], span.start, span.end)
    text, done = Text(), 0
    for link in sorted(_hidden_links(content), key=lambda span: span.end):
        text.append_text(whole[done : link.end])
        text.append(neutralised(f" ({link.value})"), "dim")
        done = link.end
    return text.append_text(whole[done:])


def _hidden_links(content: RichText) -> list[Span]:
    links = (span for span in content.spans if span.kind is SpanKind.LINK)
    return [link for link in links if not shows_address(content, link)]
