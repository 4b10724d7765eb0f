"""Pure: rich text becomes mrkdwn in which nothing but our own markers means anything."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from gateway.model.outbound import SpanKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gateway.model.outbound import RichText, Span

#: the outermost first; a heading is bold
_STYLES = (
    (frozenset({SpanKind.BOLD, SpanKind.HEADING}), "*"),
    (frozenset({SpanKind.ITALIC}), "_"),
    (frozenset({SpanKind.STRIKE}), "~"),
)
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_ADDRESS_ESCAPES = str.maketrans({"&": "&amp;", "<": "%3C", ">": "%3E", "|": "%7C"})
_ADDRESS = re.compile(r"(?:https?://|mailto:|tel:)[^\s\x00-\x1f\x7f]+", re.IGNORECASE)
_SURROGATES = re.compile("[\ud800-\udfff]")
#: takes no room and lets a marker touch a letter
_BREAK = "\u200b"
_FENCE = "```"
_LONG_RUN = re.compile(r"`{3,}")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of one line in which nothing changes."""

    text: str
    kinds: frozenset[SpanKind]
    address: str = ""


def render(content: RichText) -> str:
    """Return the mrkdwn of ``content``.

    ``&``, ``<`` and ``>`` are escaped everywhere, in code too, so no word of the text can be a
    mention or a link. Markers close at the end of their line and touch no letter; where Slack
    has no way to show a style (backticks in code, an unusual address), the words stand bare.
    What was literally typed as ``*a*`` may still be shown bold: mrkdwn knows no escape for it.
    """
    text = _SURROGATES.sub("\ufffd", content.text)
    blocks: list[str] = []
    position = 0
    for start, end in _merged(content.spans, SpanKind.PRE, len(text)):
        if start > position:
            blocks.append(_prose(text, content.spans, position, start))
        blocks.append(_fenced(text[start:end]))
        position = end
    if position < len(text):
        blocks.append(_prose(text, content.spans, position, len(text)))
    return _joined(blocks)


def size(content: RichText) -> int:
    """Return how much of Slack's limit ``content`` takes: bytes of mrkdwn."""
    return len(render(content).encode())


def escape(text: str) -> str:
    """Return text that Slack shows as it is, mentions nobody and links nowhere."""
    return text.translate(_ESCAPES)


def _unfenced(text: str) -> str:
    """Return escaped text that opens and closes no fence."""
    return _LONG_RUN.sub(lambda run: _BREAK.join(run[0]), escape(text))


def _merged(spans: Iterable[Span], kind: SpanKind, length: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of one kind, in order and apart from each other."""
    position = 0
    for span in sorted((s for s in spans if s.kind is kind), key=lambda s: (s.start, -s.end)):
        start, end = max(span.start, position), min(span.end, length)
        if start < end:
            yield start, end
            position = end


def _joined(blocks: Sequence[str]) -> str:
    """Put blocks together; a fence begins and ends a line."""
    out = ""
    for block in blocks:
        fences = out.endswith(_FENCE) or block.startswith(_FENCE)
        if out and fences and not (out.endswith("\n") or block.startswith("\n")):
            out += "\n"
        out += block
    return out


def _fenced(code: str) -> str:
    inside = _unfenced(code).strip("\n")
    return f"{_FENCE}\n{inside}\n{_FENCE}"


# --- prose -------------------------------------------------------------------------------------


def _prose(text: str, spans: Sequence[Span], start: int, end: int) -> str:
    quotes = list(_merged(spans, SpanKind.QUOTE, len(text)))
    lines, position = [], start
    for line in text[start:end].split("\n"):
        quoted = any(a <= position < b or a == position == b for a, b in quotes)
        lines.append(_line(_pieces(text, spans, position, position + len(line)), quoted=quoted))
        position += len(line) + 1
    return "\n".join(lines)


def _line(pieces: Sequence[_Piece], *, quoted: bool) -> str:
    shown = _styled(pieces, _STYLES)
    if quoted:
        return f"> {shown}"
    return _BREAK + shown if shown.startswith("&gt;") else shown


def _pieces(text: str, spans: Sequence[Span], start: int, end: int) -> list[_Piece]:
    inside = [s for s in spans if s.start < end and s.end > start and s.start < s.end]
    edges = {start, end}
    for span in inside:
        edges |= {max(span.start, start), min(span.end, end)}
    cuts = sorted(edges)
    pieces = []
    for low, high in pairwise(cuts):
        covering = [s for s in inside if s.start <= low and s.end >= high]
        address = next((s.value for s in covering if s.kind is SpanKind.LINK), "")
        pieces.append(_Piece(text[low:high], frozenset(s.kind for s in covering), address))
    return pieces


def _styled(pieces: Sequence[_Piece], styles: Sequence[tuple[frozenset[SpanKind], str]]) -> str:
    if not styles:
        return _bare(pieces)
    (kinds, marker), *rest = styles
    out = ""
    for styled, group in groupby(pieces, key=lambda piece: bool(piece.kinds & kinds)):
        inside = list(group)
        shown = _styled(inside, rest)
        if styled and not _solid(inside):
            out = _append(out, _wrapped(shown, marker))
        else:
            out = _append(out, shown)
    return out


def _solid(pieces: Sequence[_Piece]) -> bool:
    """Tell whether there is nothing that a marker could be seen on."""
    return not "".join(piece.text for piece in pieces).strip()


def _wrapped(shown: str, marker: str) -> str:
    """Put markers around what is not white space at its ends."""
    core = shown.strip()
    lead = shown[: len(shown) - len(shown.lstrip())]
    return f"{lead}{marker}{core}{marker}{shown[len(lead) + len(core) :]}"


def _append(out: str, shown: str) -> str:
    """Join two pieces; a marker and a letter that would touch are kept apart."""
    if out and shown and _touch(out[-1], shown[0]):
        return f"{out}{_BREAK}{shown}"
    return out + shown


def _touch(left: str, right: str) -> bool:
    markers = "*_~`"
    return (left in markers and not right.isspace()) or (right in markers and not left.isspace())


def _bare(pieces: Sequence[_Piece]) -> str:
    out = ""
    for (address, code), group in groupby(pieces, key=_leaf):
        words = "".join(piece.text for piece in group)
        if address:
            out = _append(out, _link(words, address))
        elif code:
            out = _append(out, _code(words))
        else:
            out += _unfenced(words)
    return out


def _leaf(piece: _Piece) -> tuple[str, bool]:
    return piece.address, SpanKind.CODE in piece.kinds


def _code(words: str) -> str:
    if "`" in words or not words.strip():
        return _unfenced(words)
    return f"`{escape(words)}`"


def _link(words: str, address: str) -> str:
    if not _ADDRESS.fullmatch(address) or not words.strip():
        return _unfenced(words)
    return f"<{address.translate(_ADDRESS_ESCAPES)}|{_unfenced(words)}>"
