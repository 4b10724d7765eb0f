"""Pipes and files as standard input and output."""

from __future__ import annotations

import asyncio
import io
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adapters.console.adapter import ConsoleAdapter
from adapters.console.descriptors import read_some, write_all
from adapters.console.errors import ConsoleClosedError
from adapters.console.source import InputKind
from gateway.model.errors import StoreBusyError
from gateway.model.events import SenderKind
from gateway.ports import ConnectionState
from tests.integration.console.core import Core, RealClock
from tests.integration.console.pipes import Pipes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gateway.model.events import InboundEvent
    from gateway.model.ids import AccountId, PlatformName
    from gateway.ports import Cursor, Received


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    with Pipes() as pipes:
        yield pipes


def console(pipes: Pipes) -> ConsoleAdapter:
    return ConsoleAdapter(pipes.streams, clock=RealClock())


def reading(pipes: Pipes, path: Path, mode: str = "r") -> ConsoleAdapter:
    """Return a console that reads ``path``."""
    descriptor = os.open(path, os.O_RDONLY if mode == "r" else os.O_WRONLY)
    given = io.TextIOWrapper(io.FileIO(descriptor, mode), write_through=True)
    streams = replace(pipes.streams, stdin=given)
    pipes.adopt(given)
    return ConsoleAdapter(streams, clock=RealClock())


async def converse(pipes: Pipes, given: bytes, core: Core | None = None) -> tuple[bytes, bytes]:
    """Pipe ``given`` through a console; return its standard output and error."""
    pipes.write(given)
    pipes.close(pipes.stdin)
    await (core or Core()).run(console(pipes))
    pipes.hang_up()
    return pipes.rest(pipes.stdout), pipes.rest(pipes.stderr)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        pytest.param(b"hello\nthere\n", b"echo: hello\necho: there\n", id="two lines"),
        pytest.param(b"hello", b"echo: hello\n", id="no newline at the end"),
        pytest.param(b"", b"", id="nothing"),
        pytest.param(b"\n  \n\t\r\n\xe2\x80\x8b\nhi\r\n", b"echo: hi\n", id="blank lines, CRLF"),
        pytest.param(b"\xef\xbb\xbfhi\n", b"echo: hi\n", id="byte order mark"),
        pytest.param(b"a\xffb\n", "echo: a\ufffdb\n".encode(), id="invalid UTF-8"),
        pytest.param(b"a\0b\n\0\nc\n", b"echo: ab\necho: c\n", id="NUL"),
        pytest.param(b"/new\nhi\n", b"echo: /new\necho: hi\n", id="commands"),
        pytest.param(b"/new@other_bot\n", b"echo: /new@other_bot\n", id="no other bots here"),
        pytest.param("Привет 👋\n".encode(), "echo: Привет 👋\n".encode(), id="long characters"),
        pytest.param(b"a\xe2\x80\xa8b\x0cc\n", b"echo: a\xe2\x80\xa8b\x0cc\n", id="only \\n ends"),
    ],
)
async def test_one_answer_for_each_line_and_nothing_else(
    pipes: Pipes, given: bytes, shown: bytes
) -> None:
    assert await converse(pipes, given) == (shown, b"")


async def test_the_answer_keeps_what_the_model_wrote(pipes: Pipes) -> None:
    written = (
        "## Plan\n**Do** it in `sh`:\n\n```sh\nls  -l\n\n# end\n```\n\nSee [this](https://x.y)."
    )

    async def answer(core: Core, event: InboundEvent) -> None:
        await core.reply(event, written)

    assert await converse(pipes, b"how?\n", Core(answer)) == (written.encode() + b"\n", b"")


async def test_the_next_line_is_read_when_the_answer_before_it_is_complete(pipes: Pipes) -> None:
    parts: asyncio.Queue[bool] = asyncio.Queue()

    async def answer(core: Core, event: InboundEvent) -> None:
        while not await parts.get():
            await core.reply(event, f"{event.text} goes on", last=False)
        await core.reply(event, f"{event.text} ends")

    core = Core(answer)
    pipes.write(b"one\ntwo\n")
    running = asyncio.ensure_future(core.run(console(pipes)))
    parts.put_nowait(False)
    assert await pipes.read(12) == b"one goes on\n"
    await asyncio.sleep(0.05)
    assert [event.text for event in core.events] == ["one"]
    parts.put_nowait(True)
    assert await pipes.read(9) == b"one ends\n"
    parts.put_nowait(True)
    pipes.close(pipes.stdin)
    await asyncio.wait_for(running, 10)
    assert [event.text for event in core.events] == ["one", "two"]
    assert not any(event.joinable for event in core.events)
    assert {event.sender.kind for event in core.events} == {SenderKind.OPERATOR}
    assert len({event.dedupe_key for event in core.events}) == 2


async def test_a_huge_line_is_refused_and_the_next_one_is_answered(
    pipes: Pipes, tmp_path: Path
) -> None:
    (tmp_path / "in").write_bytes(b"x" * 3_000_000 + b"\nhi\n")
    await Core().run(reading(pipes, tmp_path / "in"))
    pipes.hang_up()
    assert pipes.rest(pipes.stdout) == b"echo: hi\n"
    assert pipes.rest(pipes.stderr) == (
        b"Line 1 of the input is longer than 1,048,576 bytes and was not sent. "
        b"Send it in shorter lines.\n"
    )


async def test_a_regular_file_is_read_to_its_end(pipes: Pipes, tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(200)]
    (tmp_path / "in").write_text("\n".join(lines))
    await Core().run(reading(pipes, tmp_path / "in"))
    pipes.hang_up()
    shown = pipes.rest(pipes.stdout).decode()
    assert shown == "".join(f"echo: {line}\n" for line in lines)


async def test_an_input_that_cannot_be_read_ends_with_a_notice(
    pipes: Pipes, tmp_path: Path
) -> None:
    (tmp_path / "in").touch()
    await Core().run(reading(pipes, tmp_path / "in", "w"))
    pipes.hang_up()
    assert pipes.rest(pipes.stderr) == b"Standard input cannot be read: Bad file descriptor.\n"


async def test_a_reader_that_goes_away_closes_the_console(pipes: Pipes) -> None:
    failed: list[Exception] = []

    async def answer(core: Core, event: InboundEvent) -> None:
        try:
            await core.reply(event, "lost")
        except ConsoleClosedError as error:
            failed.append(error)

    adapter = console(pipes)
    pipes.close(pipes.stdout)
    pipes.write(b"one\ntwo\n")
    await asyncio.wait_for(Core(answer).run(adapter), 10)
    assert len(failed) == 1
    assert adapter.status.state is ConnectionState.STOPPED


async def test_a_message_is_offered_until_it_is_stored(pipes: Pipes) -> None:
    class Busy(Core):
        refusals = 2

        async def accept(
            self,
            account: tuple[PlatformName, AccountId],
            received: Sequence[Received],
            cursor: Cursor | None = None,
        ) -> None:
            if self.refusals:
                self.refusals -= 1
                raise StoreBusyError("somebody writes")
            await super().accept(account, received, cursor)

    shown, said = await converse(pipes, b"hi\n", Busy())
    assert shown == b"echo: hi\n"
    assert said == b"The message is not stored yet, trying on: somebody writes\n"


@pytest.mark.parametrize("stdin", ["closed", "null device", "none"])
async def test_without_input_the_console_is_off_and_waits(pipes: Pipes, stdin: str) -> None:
    if stdin == "null device":
        adapter = reading(pipes, Path(os.devnull))
    elif stdin == "none":
        adapter = ConsoleAdapter(replace(pipes.streams, stdin=None), clock=RealClock())
    else:
        pipes.hang_up(pipes.streams.stdin)
        adapter = console(pipes)
    assert adapter.input_kind is InputKind.OFF
    running = asyncio.ensure_future(Core().run(adapter))
    await asyncio.wait([running], timeout=0.05)
    assert not running.done()
    assert adapter.status.state is ConnectionState.CONNECTED
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    pipes.hang_up()
    assert (pipes.rest(pipes.stdout), pipes.rest(pipes.stderr)) == (b"", b"")


async def test_with_a_closed_output_the_console_is_off(pipes: Pipes) -> None:
    pipes.hang_up(pipes.streams.stdout)
    assert console(pipes).input_kind is InputKind.OFF


async def test_a_full_output_pipe_does_not_block_the_loop() -> None:
    reading, writing = os.pipe()
    sending = asyncio.ensure_future(write_all(writing, b"x" * 1_000_000))
    got = 0
    while got < 1_000_000:
        got += len(await asyncio.wait_for(read_some(reading), 5))
    await sending
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        await write_all(writing, b"x")
    os.close(writing)


async def test_cancelling_a_console_that_waits_for_input_ends_it(pipes: Pipes) -> None:
    running = asyncio.ensure_future(Core().run(console(pipes)))
    await asyncio.wait([running], timeout=0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, 5)
