"""What may not be written into a memory file: it stands in every later prompt. Pure."""

from __future__ import annotations

import unicodedata

import regex

#: cannot be seen, or turns the order of what can: joiners between letters are used by scripts
_UNSEEN = regex.compile(
    r"(?!(?<=[\p{L}\p{M}\p{S}\p{N}])[\u200c\u200d\ufe0e\ufe0f])"
    r"[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cs}\uFFF9-\uFFFB\u2800]"
    r"|(?![\n\t])\p{Cc}"
)
_SEPARATOR = regex.compile(r"(?m)^\s*§\s*$")

_ANY = r"(?:\w+\s+){0,4}?"
_SHAPES = {
    "it tells you to ignore your instructions": (
        rf"\b(?:ignore|disregard|forget|override)\s+{_ANY}(?:previous|prior|above|earlier|all|"
        rf"your|the|any|system)\s+{_ANY}(?:instruction|rule|prompt|guideline|direction)s?\b"
    ),
    "it gives you another role": (
        r"\byou\s+are\s+(?:now|no\s+longer)\s|\bfrom\s+now\s+on\s*,?\s+you\s+(?:are|will|must)\b|"
        r"\bact\s+as\s+(?:if|though)\s+you\b"
    ),
    "it speaks as the system": (
        r"(?m)^\W{0,6}(?:system|developer|assistant)\s*(?:prompt|message|instructions?)?\s*:|"
        r"<\|?/?(?:im_start|im_end|system|endoftext|start_header_id)\b|\[/?INST\]|"
        r"\bsystem\s+prompt\s+override\b"
    ),
    "it hides something from the person": (
        rf"\b(?:do\s+not|don't|never)\s+(?:tell|show|inform|mention\s+(?:this|it)\s+to)\s+{_ANY}"
        r"(?:user|person|human|owner)\b"
    ),
    "it would send secrets away": (
        r"\b(?:curl|wget|nc|fetch)\b[^\n]*(?:\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD)|"
        r"\.env\b|\.ssh\b|\.netrc\b)|\bcat\s+[^\n]*(?:\.env\b|\.ssh\b|credentials|\.netrc\b)"
    ),
    "it holds a mark of the gateway": r"[⟦⟧〚〛]",
}
_FORBIDDEN = {why: regex.compile(shape, regex.IGNORECASE) for why, shape in _SHAPES.items()}


def fault(content: str) -> str:
    """Say why ``content`` may not be an entry, "" where it may."""
    if not content.strip():
        return "Content cannot be empty."
    if hidden := _UNSEEN.search(content):
        return f"Refused: it holds the invisible character U+{ord(hidden.group()):04X}."
    if _SEPARATOR.search(content):
        return "Refused: a line of only § separates entries; write several entries instead."
    plain = unicodedata.normalize("NFKC", content)  # full-width letters say the same
    for why, shape in _FORBIDDEN.items():
        if shape.search(content) or shape.search(plain):
            return f"Refused: {why}, like a prompt injection. State the plain fact instead."
    return ""
