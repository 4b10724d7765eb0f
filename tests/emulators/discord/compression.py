"""Transport compression of the gateway: one stream per connection, flushed per message."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable


def compressor(name: str) -> Callable[[str], str | bytes]:
    """Return what turns a payload into a frame; text for a client that asked for none."""
    match name:
        case "zstd-stream":
            return _zstd()
        case "zlib-stream":
            return _zlib()
        case _:
            return str


def _zstd() -> Callable[[str], bytes]:
    stream = zstandard.ZstdCompressor().compressobj()

    def compress(text: str) -> bytes:
        data = stream.compress(text.encode())
        return data + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)

    return compress


def _zlib() -> Callable[[str], bytes]:
    stream = zlib.compressobj()

    def compress(text: str) -> bytes:
        return stream.compress(text.encode()) + stream.flush(zlib.Z_SYNC_FLUSH)

    return compress
