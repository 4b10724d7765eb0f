"""Rules for text from outside: what is repaired, what is refused, what counts as nothing."""

from __future__ import annotations

import unicodedata

import regex

_SURROGATE = regex.compile(r"\p{Cs}")

#: white space and what takes no room on the screen, control characters among it
_UNSEEN = r"[\s\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\u2800]*+"
_INVISIBLE = regex.compile(_UNSEEN)
_FENCE = r"[`~]{3,}+"
_BLANK = regex.compile(
    rf"{_UNSEEN}(?:{_FENCE}(?:[\w+#.-]*+[^\S\n]*+\n{_UNSEEN}{_FENCE})?+{_UNSEEN})?+"
)

_REFUSED = regex.compile(
    r"[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\u2800\uFFF9-\uFFFB]"
)

#: colours and titles of terminals, then any other two-character escape
_ANSI = regex.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]|\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)|\x1b[@-_]"
)
#: all that cannot be seen but joiners and emoji selectors behind a visible character
_LINE_NOISE = regex.compile(
    r"(?!(?<=[\p{L}\p{M}\p{S}\p{N}])[\u200c\u200d\ufe0e\ufe0f])"
    r"[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cn}\p{Co}\u2800]"
)
_LINE_SPACE = regex.compile(r"[\s\p{Cc}\p{Z}]+")
_STRUCTURE = str.maketrans('[]{}<>`"', "()()‹›''")
_LEADING_MARKS = regex.compile(r"^[#>=*~|+_\s-]+(?=\S)")


def clean(text: str) -> str:
    """Remove NUL and replace lone surrogates by U+FFFD; two that are a pair become one character.

    Nothing else changes: line ends, controls and every other character stay as they came.
    """
    text = text.replace("\0", "")
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def nfc(name: str) -> str:
    """Return a configured name in the composed form in which names are compared."""
    return unicodedata.normalize("NFC", name)


def check_name(name: str) -> str | None:
    """Say what is wrong with a configured name or id, or None.

    Names that look alike must be alike: whatever cannot be seen is refused, and so are digits
    outside 0-9 in what can only be meant as an id. Trim before asking.
    """
    if not name:
        return "is empty"
    hidden = _REFUSED.search(name)
    if hidden is not None:
        return f"holds the invisible character U+{ord(hidden.group()):04X}: type it again by hand"
    if name.isdigit() and not name.isascii():
        return "holds digits that are not the plain 0 to 9: type it again by hand"
    return None


def invisible(text: str) -> bool:
    """Tell whether nothing can be seen: white space and zero-width characters only."""
    return _INVISIBLE.fullmatch(text) is not None


def blank(text: str) -> bool:
    """Tell whether what somebody wrote says nothing: ``invisible``, or an empty fence."""
    return _BLANK.fullmatch(text) is not None


def one_line(text: str, limit: int) -> str:
    """Return untrusted metadata as one line of at most ``limit`` code points.

    No line break, control, bidirectional override or terminal code survives, and no bracket,
    quote, backtick or leading mark that could pass for structure where the line is quoted.
    """
    text = _ANSI.sub("", clean(text))
    text = _LINE_SPACE.sub(" ", _LINE_NOISE.sub("", text))
    text = _LEADING_MARKS.sub("", text).translate(_STRUCTURE).strip()
    if len(text) <= limit:
        return text
    return _whole_clusters(text, limit - 1).rstrip() + "…"


def _whole_clusters(text: str, limit: int) -> str:
    """Cut ``text`` before the grapheme cluster that does not fit, inside it if it is the first."""
    ends = [cluster.end() for cluster in regex.finditer(r"\X", text[: limit + 1])]
    return text[: max((end for end in ends if end <= limit), default=limit)]
