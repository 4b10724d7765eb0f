"""JSON columns whose values are much alike, packed on SQLite to a fifth of their size.

A value that was written before is plain JSON there and is read all the same.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

import sqlalchemy as sa

#: in front of every packed value: by which words it was packed. Never change the words of a mark.
_MARK = b"\x01"
#: what such values are mostly made of, the commonest last
_WORDS = b"".join(
    (
        b'{"text": "", "layers": ["base", "dialectic"]}',
        b'"requests": 1, "input_tokens": , "output_tokens": , "stopped": false}{"model": "openai:',
        b'"source": "runtime id", "source": "userPeerAliases[\\"',
        b'"source": "peerName", ',
        b'{"rung": "peer_name", "matched": {"rung": "session", "matched": ',
        b'"detail": "pinUserPeer is true", "detail": "no rule names slack: discord:',
        b'{"peer": "", "rung": "alias", "rung": "raw", "source": "", "steps": [',
        b'{"rung": "unattributed", "matched": false, "detail": "the sender is a person"}, ',
        b'{"rung": "pin", "matched": false, "detail": "pinUserPeer is false"}, ',
        b'{"rung": "alias", "matched": true, "detail": "userPeerAliases has telegram:',
        b'{"rung": "alias", "matched": false, "detail": "neither userPeerAliases nor a confirmed ',
        b'link has telegram:"}, {"rung": "prefix", "matched": false, "detail": ',
        b'"runtimePeerPrefix is empty"}, {"rung": "raw", "matched": true, "detail": ',
        b'"no rule names telegram:"}]}',
    )
)


def pack(value: Any) -> bytes:
    """Return a JSON value in few bytes."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    packer = zlib.compressobj(9, wbits=-15, zdict=_WORDS)
    return _MARK + packer.compress(text) + packer.flush()


def unpack(packed: bytes) -> Any:
    """Undo ``pack``. Raises ``ValueError`` for what it did not make."""
    if not packed.startswith(_MARK):
        raise ValueError("packed by words that this version does not know")
    unpacker = zlib.decompressobj(wbits=-15, zdict=_WORDS)
    text = unpacker.decompress(packed[len(_MARK) :]) + unpacker.flush()
    return json.loads(text.decode("utf-8", "surrogatepass"))


class _Kept(sa.types.UserDefinedType[Any]):
    """SQLite's column of JSON, taken as it is."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """Return the declared type."""
        return "JSON"


class PackedJson(sa.TypeDecorator[Any]):
    """A JSON value. No query can look into it."""

    impl = sa.JSON(none_as_null=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        """Return how the dialect keeps it."""
        kept = _Kept() if dialect.name == "sqlite" else self.impl_instance
        return dialect.type_descriptor(kept)

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        """Pack for SQLite."""
        return value if value is None or dialect.name != "sqlite" else pack(value)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        """Unpack what was packed."""
        if isinstance(value, bytes):
            return unpack(value)
        return json.loads(value) if isinstance(value, str) and dialect.name == "sqlite" else value
