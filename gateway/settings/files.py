"""Read a settings file as text, once: content, digest, or the reason why not."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: digest of a file that does not exist
MISSING = ""
_MAX_BYTES = 4 * 1024 * 1024
_BOM = "\ufeff"
_OTHER_ENCODINGS = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"\x00": "UTF-16 or UTF-32",
}


class UnreadableError(Exception):
    """A file as a whole cannot be taken in; ``problem`` says why and what to do."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


@dataclass(frozen=True, slots=True)
class Content:
    """A file's text without its byte order mark, and the digest of its bytes."""

    text: str
    digest: str
    bom: bool = False

    def encode(self, text: str) -> bytes:
        """Return ``text`` as this file's new bytes: its byte order mark stays."""
        return ((_BOM if self.bom else "") + text).encode()


def load(path: Path) -> Content | None:
    """Return the content, or None if there is no such file.

    Raises ``UnreadableError`` for everything else: a folder, no permission, a dangling link,
    another encoding, a size that cannot be a settings file's.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            raise UnreadableError("the link leads nowhere; mend or remove it") from None
        return None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise UnreadableError(
            f"cannot be read ({reason}); make it a file that this user may read"
        ) from None
    if len(data) > _MAX_BYTES:
        raise UnreadableError("larger than 4 MB; that cannot be a settings file")
    text = decode(data)
    return Content(text.removeprefix(_BOM), hash_bytes(data), text.startswith(_BOM))


def decode(data: bytes) -> str:
    """Return the text of UTF-8 bytes; raises ``UnreadableError`` for another encoding."""
    other = next((name for mark, name in _OTHER_ENCODINGS.items() if data.startswith(mark)), None)
    if other is None and b"\x00" in data[:4]:
        other = "UTF-16"
    if other:
        raise UnreadableError(f"written in {other}; save it as UTF-8", 1)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError("not UTF-8; save the file as UTF-8", line) from None


def hash_bytes(data: bytes) -> str:
    """Return the digest that tells one content from another."""
    return hashlib.sha256(data).hexdigest()


def digest(path: Path) -> str:
    """Return the digest of a file, ``MISSING`` if there is none or it cannot be read."""
    try:
        return hash_bytes(path.read_bytes())
    except OSError:
        return MISSING
