"""Names of files that the agent sends: safe on every disk, and telling what the file is."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import regex

from gateway.text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

_LABEL_LIMIT = 80
#: text that programs show and no system runs at a click; anything else becomes plain text
_TEXTS = {
    "txt": "text/plain",
    "md": "text/markdown",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "json": "application/json",
    "xml": "application/xml",
    "ics": "text/calendar",
    "vcf": "text/vcard",
    **dict.fromkeys(("yaml", "yml", "toml", "ini", "log", "tex", "rst", "srt"), "text/plain"),
    **dict.fromkeys(("py", "sql", "c", "h", "cpp", "go", "rs", "ts", "java"), "text/plain"),
    **dict.fromkeys(("css", "diff", "patch", "kt", "swift", "rb", "lua"), "text/plain"),
}
_PICTURES = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/webp": "webp",
    "image/gif": "gif",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/wav": "wav",
    "audio/ogg": "ogg",
    "video/mp4": "mp4",
    "application/pdf": "pdf",
}
#: what some file system or shell gives a meaning to
_UNSAFE = regex.compile(r"[\\/:*?\"<>|()‹›'$&;!%~]|\p{C}")
#: what no name begins with: hidden files, options, and what passes for structure in a text
_MARKS = " .-#>=*~|+_"
_DEVICES = regex.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)")


def document_label(name: str) -> tuple[str, str]:
    """Return (file name, media type) of a text that a model wants to call ``name``.

    The name has no path, cannot be seen as another one, and ends as what it is: text.
    """
    label = _safe(name)
    kind = label.rpartition(".")[2].lower() if "." in label else ""
    if kind in _TEXTS:
        return label, _TEXTS[kind]
    return f"{label[: _LABEL_LIMIT - len('.txt')].rstrip(' .-')}.txt", _TEXTS["txt"]


def picture_label(mime: str, ordinal: int) -> str:
    """Return the file name of something that a model made, "" for what nobody could open."""
    kind = _PICTURES.get(mime.partition(";")[0].strip().lower())
    if kind is None:
        return ""
    return f"{'picture' if mime.startswith('image/') else 'file'}-{ordinal + 1}.{kind}"


def distinct(labels: Iterable[str]) -> list[str]:
    """Return the names of one answer's files so that no two are alike."""
    taken: set[str] = set()
    found = []
    for label in labels:
        stem, dot, kind = label.rpartition(".")
        wanted, number = label, 2
        while wanted.casefold() in taken:
            wanted, number = f"{stem}-{number}{dot}{kind}", number + 1
        taken.add(wanted.casefold())
        found.append(wanted)
    return found


def _safe(name: str) -> str:
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rstrip("/").rpartition("/")[2]
    label = _UNSAFE.sub("-", one_line(last, 4 * _LABEL_LIMIT)).lstrip(_MARKS).rstrip(" .-")
    stem, dot, kind = label.rpartition(".")
    room = _LABEL_LIMIT - len(kind) - 1
    if dot and room > 0:
        label = f"{stem[:room].rstrip(' .-')}.{kind}"
    label = label[:_LABEL_LIMIT].strip(" .")
    if _DEVICES.match(label):
        label = f"_{label}"
    return label or "document"
