"""Collects visible text with its ranges, line by line."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.model.outbound import RichText, Span, SpanKind


@dataclass(frozen=True, slots=True)
class _Open:
    """A range whose end is not known yet; ``slot`` keeps outer ranges before inner ones."""

    kind: SpanKind
    start: int
    value: str
    slot: int


class Writer:
    """Text so far. Lines begin with ``prefix``; blocks are parted by line ends.

    A kind of range that is open already is not opened again: nothing on a screen is bold twice,
    and the number of ranges over one character stays bounded whatever the input nests.
    """

    def __init__(self) -> None:
        self.prefix = ""
        self.length = 0
        #: line ends before the next block
        self._gap = 0
        self._parts: list[str] = []
        self._spans: list[Span | None] = []
        self._open: list[_Open | None] = []
        self._kinds: set[SpanKind] = set()
        #: a marker stands on the current line and its block has not written yet
        self._begun = False

    def write(self, text: str) -> None:
        """Append text as it is."""
        if text:
            self._parts.append(text)
            self.length += len(text)

    def newline(self) -> None:
        """Go on in the next line of the same block."""
        self.write("\n" + self.prefix)

    def begin(self, marker: str = "") -> None:
        """Begin a block's first line; ``marker`` stands in front of what the block writes."""
        if not self._begun:
            self._part()
            self.write(self.prefix)
        self.write(marker)
        self._begun = bool(marker)

    def begin_outdented(self) -> None:
        """Begin a block that needs whole lines: it ignores prefix and marker."""
        if self._begun:
            self.write("\n")
        else:
            self._part()
        self._begun = False

    def end(self, gap: int) -> None:
        """End a block; the next one begins ``gap`` line ends further on."""
        self._gap = gap
        self._begun = False

    def open(self, kind: SpanKind, value: str = "") -> None:
        """Begin a range here."""
        if self.is_open(kind):
            self._open.append(None)
            return
        self._open.append(_Open(kind, self.length, value, len(self._spans)))
        self._spans.append(None)
        self._kinds.add(kind)

    def close(self) -> None:
        """End the innermost range here; an empty one leaves no trace."""
        opened = self._open.pop()
        if opened is None:
            return
        self._kinds.discard(opened.kind)
        if opened.start < self.length:
            span = Span(opened.kind, opened.start, self.length, opened.value)
            self._spans[opened.slot] = span

    def is_open(self, kind: SpanKind) -> bool:
        """Tell whether a range of this kind is open."""
        return kind in self._kinds

    def rich(self) -> RichText:
        """Return what was collected, without white space at the end."""
        text = "".join(self._parts).rstrip()
        return RichText(text, tuple(self._visible_spans(text)))

    def _visible_spans(self, text: str) -> list[Span]:
        spans = []
        for span in self._spans:
            if span is not None and text[span.start : span.end].strip():
                end = min(span.end, len(text))
                spans.append(Span(span.kind, span.start, end, span.value))
        return spans

    def _part(self) -> None:
        self.write("\n" * self._gap if self.length else "")
        self._gap = 0
