"""Cuts text with ranges into pieces that a platform takes, at the best place there is."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import regex

from gateway.model.outbound import RichText, Span, SpanKind
from gateway.text.clean import invisible

if TYPE_CHECKING:
    from collections.abc import Callable

_SPACE = regex.compile(r"[\s\x1c-\x1f]*+")
_SENTENCE = regex.compile(
    r"[.!?…]++[\"'”’»)\]]*+(?=\s)"
    r"|[。！？]++[”’」』）]*+(?![\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}])"
)
_WORD_END = regex.compile(r"(?r)\s")
_CLUSTER = regex.compile(r"\X")


def split(
    rich: RichText, *, limit: int, size: Callable[[RichText], int], max_spans: int = 0
) -> list[RichText]:
    """Cut ``rich`` into pieces whose ``size`` is at most ``limit``; nothing visible is lost.

    ``size`` measures a piece as the platform will see it and must not shrink when text is added.
    A piece holds at most ``max_spans`` ranges (0: any number). A range that is open at a cut ends
    there and starts again in the next piece.

    Pieces are slices of ``rich.text`` in order. What lies before, between and after them is
    ``invisible``: no piece is, none ends in white space, and none begins with it except for the
    indentation of a line of code. Invisible text gives no piece.

    Where one code point is too large with its ranges, it goes without them; where ``limit`` is
    smaller than the bare code point, that piece is too large. A range whose mere presence takes
    more than half of ``limit`` is dropped, and so are innermost ranges where more than
    ``max_spans`` cover one character.
    """
    return _Cutter(rich, limit, size, max_spans).pieces()


class _Cutter:
    """One document being cut; ``_start`` only goes forward."""

    def __init__(
        self, rich: RichText, limit: int, size: Callable[[RichText], int], max_spans: int
    ) -> None:
        self._text = rich.text
        self._limit = limit
        self._size = size
        self._max_spans = max_spans
        self._start = 0
        #: in the order in which they open; those before ``_next`` opened before ``_start``
        self._spans = sorted(filter(self._bearable, rich.spans), key=lambda s: (s.start, -s.end))
        self._starts = [span.start for span in self._spans]
        self._next = 0
        #: of those, the ones that reach beyond ``_start``
        self._open: list[Span] = []
        self._code = [span for span in self._spans if span.kind is SpanKind.PRE]
        self._code_ends = [span.end for span in self._code]

    def pieces(self) -> list[RichText]:
        found = []
        self._advance(0)
        while self._start < len(self._text):
            end = self._end()
            piece = self._slice(end)
            if not self._fits(end):
                piece = RichText(piece.text)
            if not invisible(piece.text):
                found.append(piece)
            self._advance(end)
        return found

    def _bearable(self, span: Span) -> bool:
        if span.end <= span.start:
            return False
        if len(span.value) <= self._limit // 8:
            return True
        alone = Span(span.kind, 0, 1, span.value)
        return self._size(RichText("x", (alone,))) <= self._limit // 2

    # --- where a piece begins ----------------------------------------------------------------

    def _advance(self, position: int) -> None:
        """Begin the next piece behind the white space at ``position``, keeping indentation."""
        self._start = start = self._skip(position)
        opened = bisect_right(self._starts, start)
        covering = [*self._open, *self._spans[self._next : opened]]
        self._open = [span for span in covering if span.end > start]
        self._next = opened
        if self._max_spans:
            del self._open[self._max_spans :]

    def _skip(self, position: int) -> int:
        end = self._space_end(position)
        code = self._code_at(end)
        if code is None:
            return end
        line = self._text.rfind("\n", position, end) + 1
        if code.start >= position:
            return max(code.start, line)
        return line or end

    def _space_end(self, position: int) -> int:
        match = _SPACE.match(self._text, position)
        return match.end() if match else position

    def _code_at(self, position: int) -> Span | None:
        """Return the block of code that ``text[position]`` is part of."""
        index = bisect_right(self._code_ends, position)
        if index < len(self._code) and self._code[index].start <= position:
            return self._code[index]
        return None

    # --- what a piece would be ---------------------------------------------------------------

    def _slice(self, end: int) -> RichText:
        start = self._start
        inside = self._spans[self._next : bisect_left(self._starts, end)]
        spans = (
            Span(span.kind, max(0, span.start - start), min(span.end, end) - start, span.value)
            for span in (*self._open, *inside)
        )
        return RichText(self._text[start:end], tuple(spans))

    def _fits(self, end: int) -> bool:
        piece = self._slice(end)
        if self._max_spans and len(piece.spans) > self._max_spans:
            return False
        return self._size(piece) <= self._limit

    def _reach(self) -> int:
        """Return the furthest end that fits; ``_start`` when not even one code point does."""
        start, last = self._start, len(self._text)
        high = min(last, start + max(1, self._limit))
        while high < last and self._fits(high):
            high = min(last, 2 * high - start)
        ends = range(start + 1, high + 1)
        return start + bisect_left(ends, True, key=lambda end: not self._fits(end))

    # --- where a piece ends ------------------------------------------------------------------

    def _end(self) -> int:
        end = self._reach()
        while end > self._start + 1:
            cut = self._trim(self._boundary(end))
            if self._fits(cut):
                return cut
            end = cut - 1
        return self._start + 1

    def _trim(self, end: int) -> int:
        """Step back over white space; a piece of nothing else stays."""
        kept = len(self._text[self._start : end].rstrip())
        return self._start + kept if kept else end

    def _boundary(self, end: int) -> int:
        """Return the best place to cut in the second half, else the last gap there is."""
        if end == len(self._text):
            return end
        middle = (self._start + end + 1) // 2
        return (
            self._paragraph(middle, end)
            or self._line(middle, end)
            or self._sentence(middle, end)
            or self._line_of_code(end)
            or self._word(end)
            or self._cluster(end)
            or end
        )

    def _paragraph(self, low: int, end: int) -> int:
        """Return the last empty line outside code, or 0."""
        found = self._text.rfind("\n\n", low, end + 2)
        while found > 0 and (code := self._code_at(found)) is not None:
            found = self._text.rfind("\n\n", low, max(low, code.start + 1))
        return max(0, found)

    def _line(self, low: int, end: int) -> int:
        return max(0, self._text.rfind("\n", low, end + 1))

    def _line_of_code(self, end: int) -> int:
        """Return the last line end when the text would be cut inside code, or 0."""
        if self._code_at(end) is None:
            return 0
        return self._line(self._space_end(self._start), end)

    def _sentence(self, low: int, end: int) -> int:
        ends = [
            m.end() for m in _SENTENCE.finditer(self._text, low, min(len(self._text), end + 1))
        ]
        ends = [found for found in ends if found <= end and self._code_at(found - 1) is None]
        return ends[-1] if ends else 0

    def _word(self, end: int) -> int:
        begin = self._space_end(self._start)
        space = _WORD_END.search(self._text, begin, max(begin, end + 1))
        return space.start() if space else 0

    def _cluster(self, end: int) -> int:
        """Return the last border between what is seen as characters, or 0."""
        window = _CLUSTER.finditer(self._text, self._start, end + 1)
        border = max(cluster.start() for cluster in window)
        return border if border > self._start else 0
