"""Read .env: ``NAME=value`` lines with export prefix, quotes and comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gateway.settings.nodes import Scalar, Source, Style

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.settings.findings import Findings

_LINE = re.compile(r"(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(?P<rest>.*)")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def parse_dotenv(text: str, file: Path, findings: Findings) -> dict[str, Scalar]:
    """Return the variables; a later line of the same name replaces the earlier, as in a shell.

    A line that is no assignment is a fault; its text is not repeated, since it may be a secret.
    """
    variables: dict[str, Scalar] = {}
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        value = _unquote(found["rest"]) if found else None
        if found is None or value is None:
            problem = "quotes do not match" if found else "write NAME=value"
            findings.fault(Source(file, number), (), problem)
            continue
        source = Source(file, number, found["name"])
        if source.variable in variables:
            first = variables[source.variable].source.line
            findings.warn(source, (), f"stands in line {first} too; this line counts")
        variables[source.variable] = Scalar(value, Style.VARIABLE, source)
    return variables


def _unquote(rest: str) -> str | None:
    """Return the value without quotes and comment; None if a quote does not close."""
    quote = rest[:1]
    if quote not in {'"', "'"}:
        return _COMMENT.sub("", rest).strip()
    body = r'"((?:[^"\\]|\\.)*)"' if quote == '"' else r"'([^']*)'"
    found = re.fullmatch(body + r"[ \t]*(?:#.*)?", rest)
    if found is None:
        return None
    if quote == "'":
        return found[1]
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), found[1])
