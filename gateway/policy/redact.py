"""Text without secrets, for logs, errors and replies.

A secret is replaced by its kind in brackets; not one of its characters is kept, because the
last four of a short token already help whoever guesses it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

MASK = "[secret]"

#: a piece of a secret that is shorter than this is too common to be masked alone
_SHORTEST = 8

_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<!\d)\d+(?::|%3[Aa])[A-Za-z0-9_-]{30,}"), "[telegram-token]"),
    (re.compile(r"\b(?:xox[a-z]\.)?(?:xox[a-z]|xapp)-[A-Za-z0-9-]{6,}"), "[slack-token]"),
    (re.compile(r"(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?"), "[jwt]"),
    (
        re.compile(r"(?<![\w-])[A-Za-z0-9_-]{23,32}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}"),
        "[discord-token]",
    ),
    (re.compile(r"(?<![\w-])(?:sk|hch)-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{12,}"), "[api-key]"),
    (re.compile(r"\bAIza[A-Za-z0-9_-]{30,}"), "[api-key]"),
    (re.compile(r"(?i)\b(bearer\s+)(?=\S*\d)[A-Za-z0-9._~+/=-]{8,}"), rf"\1{MASK}"),
    (
        re.compile(
            r"(?i)(\bauthorization['\"]?\s*[:=]\s*['\"]?(?:(?:bot|basic|bearer)\s+)?)"
            r"[^\s'\",}]+"
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"(://[^\s/:@]*:)[^\s/@]+(?=@)"), rf"\1{MASK}"),
    (
        re.compile(r"(?i)((?:api_?key|token|secret|password)=)[^\s&'\",;]+"),
        rf"\1{MASK}",
    ),
)


def redact(text: str, secrets: Collection[str]) -> str:
    """Return ``text`` without ``secrets`` and without whatever has the shape of one.

    Also masked: each of several secrets joined by commas, the part behind a token's ``:``, and
    all of these as they stand in a URL. Applying it twice changes nothing more.
    """
    forms = sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True)
    if forms:
        text = re.sub("|".join(map(re.escape, forms)), MASK, text)
    for pattern, mask in _PATTERNS:
        text = pattern.sub(mask, text)
    return text


def _forms(secret: str) -> Iterator[str]:
    pieces = [piece for piece in map(str.strip, secret.split(",")) if len(piece) >= _SHORTEST]
    for token in filter(None, (secret, *pieces)):
        yield token
        yield quote(token, safe="", errors="surrogatepass")
        behind = token.partition(":")[2]
        if len(behind) >= _SHORTEST:
            yield behind
