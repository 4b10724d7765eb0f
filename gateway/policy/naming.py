"""Any text as a name the memory service accepts: ``[A-Za-z0-9_-]{1,100}``, never two as one."""

from __future__ import annotations

import hashlib
import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    #: Returns the original text that already holds a name, None for a free one.
    Owner = Callable[[str], str | None]

LIMIT = 100

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_LEGAL = re.compile(rf"[A-Za-z0-9_-]{{1,{LIMIT}}}")
_TAILS = (8, 16, 32, 64)


def is_legal(text: str) -> bool:
    """Tell whether ``text`` can be a name as it stands."""
    return _LEGAL.fullmatch(text) is not None


def clean(text: str) -> str:
    """Replace each foreign character by ``-``. Different texts may come out equal."""
    return _FOREIGN.sub("-", text)


def digest(text: str) -> str:
    """Return 64 hex digits of SHA-256; also of text with lone surrogates."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def candidates(original: str) -> Iterator[str]:
    """Yield the names ``original`` may have, the preferred one first, without end.

    A short legal original is its own first candidate; all others are a readable head and a
    hash of the original, each longer than the one before. Raises ``ValueError`` if it is empty.
    """
    if not original:
        raise ValueError("an empty text cannot be given a name")
    own = (original,) if is_legal(original) else ()
    return itertools.chain(own, hashed(original, original))


def hashed(head: str, original: str) -> Iterator[str]:
    """Yield ``head-<hash of original>`` with growing hashes, without end."""
    cleaned = clean(head)
    for tail in _tails(original):
        yield f"{cleaned[: LIMIT - 1 - len(tail)]}-{tail}"


def _tails(original: str) -> Iterator[str]:
    whole = digest(original)
    yield from (whole[:length] for length in _TAILS)
    yield from (digest(f"{salt}:{original}") for salt in itertools.count(1))


def assign(original: str, owner: Owner) -> str:
    """Return the name of ``original``: the one it holds already, else its first free one.

    Two originals never get one name as long as the caller stores name and original before it
    asks for the next, and ``owner`` answers from that store.
    """
    return pick(candidates(original), original, owner)


def pick(names: Iterable[str], original: str, owner: Owner) -> str:
    """Return the first of endless ``names`` that is free or already ``original``'s."""
    return next(name for name in names if owner(name) in (None, original))
