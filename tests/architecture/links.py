"""Every link of every Markdown page that stays inside the project leads somewhere."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt

from tests.architecture.conduct import text_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from markdown_it.token import Token


def link_faults(root: Path) -> list[str]:
    """Return a line for each link to a file or heading that does not exist."""
    pages = [file for file in text_files(root) if file.suffix == ".md"]
    return [
        f"{page.relative_to(root).as_posix()}: {target}"
        for page in pages
        for target in _targets(page)
        if not _resolves(page, target)
    ]


def _resolves(page: Path, target: str) -> bool:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return True
    file = page.parent / unquote(parts.path) if parts.path else page
    if not file.exists():
        return False
    return not parts.fragment or (file.suffix == ".md" and parts.fragment in anchors(file))


def _targets(page: Path) -> Iterator[str]:
    for token in _walk(MarkdownIt("gfm-like", {"linkify": False}).parse(_text(page))):
        target = token.attrGet("href") or token.attrGet("src")
        if isinstance(target, str):
            yield target


def anchors(page: Path) -> set[str]:
    """Return the fragments that a page's headings can be linked by."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(_text(page))
    titles = (
        "".join(leaf.content for leaf in heading.children or ())
        for opening, heading in pairwise(tokens)
        if opening.type == "heading_open"
    )
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _walk(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _walk(token.children or [])


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")
