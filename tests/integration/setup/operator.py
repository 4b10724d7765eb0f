"""Somebody in front of the wizard: is asked one thing at a time, and answers it."""

from __future__ import annotations

import asyncio
import io
import re
import sys
from typing import TYPE_CHECKING

from gateway.cli.main import cli
from tests.integration.console.glass import Person

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

_CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
#: stands behind everything that a command wrote
_END = "<end of the command>"
#: what a plain question ends with
PROMPT = "\r\n> "


class Operator:
    """Runs one command with a pseudo-terminal as standard input and standard error."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.person = Person(columns=200, rows=50)
        self.result = io.StringIO()
        self._heard = 0
        self._running: asyncio.Future[int | None] | None = None

    @property
    def raw(self) -> str:
        """All that came over the terminal."""
        return self.person.raw.replace(_END, "")

    async def run(self, *words: str) -> None:
        """Start a command."""
        streams = self.person.streams
        self._monkeypatch.setattr(sys, "stdin", streams.stdin)
        self._monkeypatch.setattr(sys, "stderr", streams.stderr)
        self._monkeypatch.setattr(sys, "stdout", self.result)

        def command() -> int | None:
            code = cli(list(words), standalone_mode=False)
            return code if isinstance(code, int) else 0

        self._running = asyncio.ensure_future(asyncio.to_thread(command))

    async def hears(self, words: str, *, end: str = "") -> str:
        """Wait for ``words`` in what was not heard yet, and for ``end`` at its end."""
        try:
            await self.person.until(
                lambda: words in self._new and self._new.endswith(end), seconds=20
            )
        except TimeoutError:
            raise AssertionError(f"{words!r} was not said in {self._new!r}") from None
        heard, self._heard = self._new, len(self.raw)
        return heard

    @property
    def _new(self) -> str:
        return self.raw[self._heard :]

    async def answers(self, question: str, typed: str) -> str:
        """Hear a question, and nothing behind it, and answer; ``@label`` picks from its list."""
        heard = await self.hears(question, end=PROMPT)
        assert len(re.findall(re.escape(PROMPT), heard)) == 1, f"more than one question: {heard!r}"
        if typed.startswith("@"):
            found = re.search(rf"^ +(\w+)\. {re.escape(typed[1:])}", heard, re.MULTILINE)
            assert found, f"{typed[1:]!r} is not offered in {heard!r}"
            typed = found[1]
        self.person.type(f"{typed}\n")
        return heard

    async def goes_through(self, *script: tuple[str, str]) -> list[str]:
        """Answer one question after the other; return what was said with each."""
        return [await self.answers(question, typed) for question, typed in script]

    async def sees(self, words: str) -> None:
        """Wait for words that a menu drew since the last keys."""

        def drawn() -> str:
            return _CODE.sub("", self._new)

        try:
            await self.person.until(lambda: words in drawn(), seconds=20)
        except TimeoutError:
            raise AssertionError(f"{words!r} is not to be seen in {drawn()!r}") from None
        self._heard = len(self.raw)

    async def leaves(self) -> None:
        """Let a command that still waits for an answer end."""
        while self._running is not None and not self._running.done():
            self.person.type("\x04")
            await asyncio.wait([self._running], timeout=0.2)

    async def ends(self, code: int = 0) -> str:
        """Wait for the command's end; return what was said since the last answer."""
        assert self._running is not None
        assert await asyncio.wait_for(self._running, 30) == code, self.raw
        stderr = self.person.streams.stderr
        assert stderr is not None
        ended = self.person.raw.count(_END)
        stderr.write(_END)
        stderr.flush()
        await self.person.until(lambda: self.person.raw.count(_END) > ended, seconds=20)
        return self._new


def contents(folder: Path) -> Mapping[str, str]:
    """Return the texts of the settings files that there are."""
    names = (".env", "config.yaml", "honcho.json")
    return {
        name: (folder / name).read_bytes().decode() for name in names if (folder / name).exists()
    }
