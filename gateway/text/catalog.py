"""Every text a person can meet, in English, Russian and Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gateway.text import catalog_en, catalog_ru, catalog_zh
from gateway.text.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

DEFAULT_LANGUAGE: Final = "en"

#: a text, or its plural forms by CLDR category; the form is chosen by the value ``n``
Entry = str | dict[str, str]

TEXTS: Final[Mapping[str, Mapping[str, Entry]]] = {
    "en": catalog_en.TEXTS,
    "ru": catalog_ru.TEXTS,
    "zh": catalog_zh.TEXTS,
}

#: the commands of ``help``, in its order; each has a one-line text ``cmd.<name>``
COMMANDS: Final = ("start", "help", "new", "stop", "status", "whoami", "trace", "title")


def text(key: str, language: str, /, **values: object) -> str:
    """Return a text as Markdown; an unknown language is answered in English.

    Values are shown letter by letter: what they hold of markup is escaped. Raises ``KeyError``
    for an unknown key or a missing value.
    """
    entry = TEXTS.get(language, TEXTS[DEFAULT_LANGUAGE])[key]
    if isinstance(entry, dict):
        entry = entry[_PLURAL_RULES.get(language, _plural_en)(_count(values["n"]))]
    pieces = entry.split("`")
    pieces[::2] = [_fill(piece, values, escape) for piece in pieces[::2]]
    pieces[1::2] = [_fill(piece, values, _as_code) for piece in pieces[1::2]]
    return "`".join(pieces)


def help_text(language: str, names: Iterable[str] = COMMANDS) -> str:
    """Return the text ``help`` with one line for each command."""
    lines = [f"/{name} — {text(f'cmd.{name}', language)}" for name in names]
    return text("help", language, commands="\n".join(lines))


def language_of(code: str | None, default: str = DEFAULT_LANGUAGE) -> str:
    """Return the language to speak with somebody whose client says ``code`` (BCP 47)."""
    base = (code or "").strip().replace("_", "-").split("-")[0].lower()
    if base in TEXTS:
        return base
    return default if default in TEXTS else DEFAULT_LANGUAGE


def _fill(piece: str, values: Mapping[str, object], show: Callable[[str], str]) -> str:
    return piece.format_map({name: show(str(value)) for name, value in values.items()})


def _as_code(value: str) -> str:
    return value.replace("`", "'")


def _count(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"n must be a whole number, not {type(value).__name__}")
    return value


def _plural_en(n: int) -> str:
    return "one" if n == 1 else "other"


def _plural_ru(n: int) -> str:
    if n % 10 == 1 and n % 100 != 11:
        return "one"
    return "few" if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else "many"


def _plural_zh(_n: int) -> str:
    return "other"


_PLURAL_RULES: Final[Mapping[str, Callable[[int], str]]] = {
    "en": _plural_en,
    "ru": _plural_ru,
    "zh": _plural_zh,
}
