"""What passes between a running gateway and an attached console: one JSON object a line."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from adapters.console.sink import Piece
from gateway.model.errors import PlatformError
from gateway.model.outbound import RichText, Span, SpanKind

#: bytes of one frame: an answer of the largest size with every character escaped
MAX_FRAME = 16 * 1_048_576


class WireError(PlatformError):
    """The other end of the console's socket does not speak our protocol."""

    code = "wire"


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class LineFrame(_Frame):
    """Client: one message. ``id`` is its message id, made unique by the client."""

    kind: Literal["line"] = "line"
    line: str
    id: str = Field(pattern=r"^[a-z0-9_]{8,64}$")
    joinable: bool


class DeltaFrame(_Frame):
    """Server: the running answer is its first ``keep`` characters as known, then ``delta``."""

    kind: Literal["delta"] = "delta"
    turn: str
    keep: int
    delta: str


class AnswerFrame(_Frame):
    """Server: one part of an answer to the client's messages ``to``."""

    kind: Literal["answer"] = "answer"
    answer: str
    spans: tuple[tuple[SpanKind, int, int, str], ...] = ()
    turn: str
    to: tuple[str, ...]
    last: bool

    @classmethod
    def of(cls, piece: Piece) -> Self:
        """Return the frame for a piece."""
        spans = tuple(
            (span.kind, span.start, span.end, span.value) for span in piece.content.spans
        )
        return cls(
            answer=piece.content.text.encode(errors="replace").decode(),
            spans=spans,
            turn=piece.turn,
            to=piece.to,
            last=piece.last,
        )

    def piece(self) -> Piece:
        """Return the piece."""
        spans = tuple(Span(kind, start, end, value) for kind, start, end, value in self.spans)
        return Piece(RichText(self.answer, spans), turn=self.turn, to=self.to, last=self.last)


class NoticeFrame(_Frame):
    """Server: something about the console itself."""

    kind: Literal["notice"] = "notice"
    notice: str


Frame = Annotated[LineFrame | DeltaFrame | AnswerFrame | NoticeFrame, Field(discriminator="kind")]
_FRAMES: TypeAdapter[Frame] = TypeAdapter(Frame)


def encode(frame: Frame) -> bytes:
    """Return the frame as one line."""
    return frame.model_dump_json().encode() + b"\n"


async def read_frame(reader: asyncio.StreamReader) -> Frame | None:
    """Return the next frame, None at the end. Raises ``WireError`` and OSError."""
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise WireError("a frame is too long") from error
    try:
        return _FRAMES.validate_json(line)
    except ValidationError:
        raise WireError(f"a frame of {len(line)} bytes is not one of ours") from None
