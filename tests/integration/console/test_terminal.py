"""The console on a pseudo-terminal, as somebody in front of it sees it."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from adapters.console.adapter import ConsoleAdapter
from adapters.console.front import GREETING
from adapters.console.source import InputKind
from adapters.console.terminal import LEAVE_HINT
from gateway.model.ids import TurnId
from tests.integration.console.core import Core, RealClock, address
from tests.integration.console.glass import Person

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from gateway.model.events import InboundEvent
    from gateway.ports import Preview


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


class Slow(Core):
    """Shows previews and answers when the test says so; ``/stop`` is noted."""

    def __init__(self) -> None:
        super().__init__(self._answer_slowly)
        self.begun: asyncio.Queue[tuple[InboundEvent, Preview | None]] = asyncio.Queue()
        self.answers: asyncio.Queue[str] = asyncio.Queue()

    async def _answer_slowly(self, _core: Core, event: InboundEvent) -> None:
        if event.command:
            await self.reply(event, f"done: {event.command.name}")
            return
        assert self.adapter is not None
        turn = f"t_{event.message}"
        preview = self.adapter.preview(address(event), TurnId(turn), event.message)
        self.begun.put_nowait((event, preview))
        answer = await self.answers.get()
        if preview:
            await preview.close()
        await self.reply(event, answer, turn=turn)


@asynccontextmanager
async def talking(person: Person, core: Core) -> AsyncIterator[asyncio.Future[None]]:
    """Let ``person`` talk to ``core``; gives what is done when the console has closed."""
    adapter = ConsoleAdapter(person.streams, clock=RealClock())
    assert adapter.input_kind is InputKind.TERMINAL
    async with person:
        before = person.settings
        running = asyncio.ensure_future(core.run(adapter))
        try:
            if os.environ["TERM"] != "dumb":
                await person.sees(">")
            yield running
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            assert person.settings == before


async def test_a_typed_line_is_answered_above_the_prompt() -> None:
    person = Person(columns=100)
    async with talking(person, Core()) as running:
        person.type("hello\r")
        await person.sees(GREETING, "> hello", "echo: hello", ">")
        person.type("/new\r")
        await person.sees("> /new", "echo: /new", ">")
        person.type("\x04")
        await asyncio.wait_for(running, 10)
    assert person.lines == [GREETING, "> hello", "echo: hello", "> /new", "echo: /new", ">"]


async def test_an_answer_streams_and_stands_there_once_at_the_end() -> None:
    person, core = Person(), Slow()
    async with talking(person, core):
        person.type("tell me\r")
        await person.sees("> tell me", "…", ">")
        _event, preview = await core.begun.get()
        assert preview is not None
        preview.update("First **par")
        await person.sees("> tell me", "First **par", ">")
        preview.update("First **part**.\n\nSecond `o")
        await person.sees("> tell me", "First part.", "Second `o", ">")
        core.answers.put_nowait("First **part**.\n\nSecond `one`.\n\n- a\n- b")
        await person.sees("> tell me", "First part.", "Second one.", "• a", "• b", ">")
        assert person.raw.count("\x1b[1mpart\x1b[0m") == 1
        person.type("\x04")


async def test_an_answer_that_turned_out_otherwise_is_shown_in_full() -> None:
    person, core = Person(), Slow()
    async with talking(person, core):
        person.type("hi\r")
        _event, preview = await core.begun.get()
        assert preview is not None
        preview.update("Old start.\n\nMore")
        await person.sees("Old start.", "More", ">")
        core.answers.put_nowait("New words.")
        await person.sees("> hi", "Old start.", "New words.", ">")


async def test_a_long_running_answer_leaves_room_for_the_prompt() -> None:
    person, core = Person(rows=10), Slow()
    async with talking(person, core):
        person.type("list\r")
        _event, preview = await core.begun.get()
        assert preview is not None
        text = "\n".join(f"line {number}" for number in range(50))
        preview.update(text)
        await person.sees("> list", "line 46", "line 47", "line 48", "line 49", ">")
        core.answers.put_nowait(f"{text}\nend")
        await person.sees("> list", *text.split("\n"), "end", ">")


async def test_ctrl_c_clears_the_line_then_stops_the_answer_then_leaves() -> None:
    person, core = Person(columns=100), Slow()
    async with talking(person, core) as running:
        person.type("question\r")
        await core.begun.get()
        person.type("half a line")
        await person.sees("> question", "…", "> half a line")
        person.type("\x03")
        await person.sees("> question", "…", ">")
        person.type("\x03")
        await person.sees("> question", "> /stop", "done: stop", "…", ">")
        assert [event.text for event in core.events] == ["question", "/stop"]
        core.answers.put_nowait("as far as I came")
        await person.sees("done: stop", "as far as I came", ">")
        person.type("\x03")
        await person.sees("as far as I came", LEAVE_HINT, ">")
        assert not running.done()
        person.type("\x03")
        await asyncio.wait_for(running, 10)


async def test_leaving_waits_for_the_last_answer() -> None:
    person, core = Person(), Slow()
    async with talking(person, core) as running:
        person.type("question\r\x04")
        await core.begun.get()
        await person.sees("> question", ">")
        assert not running.done()
        core.answers.put_nowait("late answer")
        await asyncio.wait_for(running, 10)
        await person.sees("late answer")


async def test_a_pasted_text_of_two_lines_is_one_message() -> None:
    person, core = Person(), Core()
    async with talking(person, core):
        person.paste("one\r\ntwo")
        await person.sees("> one", "  two")
        person.type("\r")
        await person.sees("> one", "  two", "echo: one", "two", ">")
        person.type("a\x1b\rb\r")
        await person.sees("> a", "  b", "echo: a", "b", ">")
    assert [event.text for event in core.events] == ["one\ntwo", "a\nb"]
    assert all(event.joinable for event in core.events)


async def test_messages_that_were_joined_are_all_answered_by_the_last() -> None:
    person, core = Person(), Core(lambda core, event: _answer_last(core, event))
    async with talking(person, core) as running:
        person.type("one\rtwo\r")
        await person.sees("> one", "> two", "joined", ">")
        person.type("\x04")
        await asyncio.wait_for(running, 10)


async def _answer_last(core: Core, event: InboundEvent) -> None:
    if event.text == "two":
        await core.reply(event, "joined")


async def test_what_the_model_writes_cannot_steer_the_terminal() -> None:
    person = Person(columns=100)

    async def answer(core: Core, event: InboundEvent) -> None:
        await core.reply(event, "a\x1b[2J\x1b]0;title\x07b\rc\u202ed\x9bH [x](http://e.x/)")

    async with talking(person, Core(answer)):
        person.type("go\r")
        await person.sees("> go", "a␛[2J␛]0;title␇b", "c\ufffdd\ufffdH x (http://e.x/)", ">")


async def test_history_survives_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "history"
    for keys in ("first words\r\x04", "\x1b[A\r\x04"):
        person, core = Person(path), Core()
        async with talking(person, core) as running:
            person.type(keys)
            await asyncio.wait_for(running, 10)
        assert [event.text for event in core.events] == ["first words"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_history_that_cannot_be_kept_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "history").mkdir()
    person = Person(tmp_path / "history")
    async with talking(person, Core()):
        person.type("hello\r")
        await person.sees("> hello", "echo: hello", ">")


async def test_log_lines_scroll_above_the_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    person = Person()
    monkeypatch.setattr(sys, "stderr", person.streams.stderr)
    async with talking(person, Core()):
        person.type("half")
        await person.sees("> half")
        logger = logging.Logger("console-test")
        logger.addHandler(logging.StreamHandler())
        await asyncio.to_thread(logger.error, "from a thread")
        await person.sees("from a thread", "> half")
    assert sys.stderr is person.streams.stderr


async def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    person = Person()

    async def answer(core: Core, event: InboundEvent) -> None:
        await core.reply(event, f"**echo**: {event.text}")

    async with talking(person, Core(answer)) as running:
        person.type("hello\n")
        await person.sees("hello", "echo: hello")
        person.type("\x04")
        await asyncio.wait_for(running, 10)
    assert "\x1b" not in person.raw


async def test_no_color_leaves_weight_but_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    person = Person()

    async def answer(core: Core, event: InboundEvent) -> None:
        await core.reply(event, "**bold** and `code`")

    async with talking(person, Core(answer)):
        person.type("hello\r")
        await person.sees("> hello", "bold and code", ">")
    assert "\x1b[1mbold\x1b[0m and code" in person.raw
