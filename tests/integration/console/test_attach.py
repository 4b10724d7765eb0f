"""Consoles attached to a running gateway by its socket."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from adapters.console import serve
from adapters.console.adapter import ConsoleAdapter
from adapters.console.attach import attach
from adapters.console.errors import ConsoleClosedError, NoConsoleError
from adapters.console.front import Streams
from adapters.console.manifest import PLATFORM
from adapters.console.parse import ACCOUNT, PLACE
from adapters.console.rendezvous import connect, listen
from adapters.console.wire import LineFrame, encode, read_frame
from gateway.model.errors import Disposition
from gateway.model.ids import MessageId
from gateway.model.outbound import Address, Part, RichText
from tests.integration.console.core import Core, RealClock
from tests.integration.console.glass import Person
from tests.integration.console.pipes import Pipes
from tests.integration.console.test_terminal import Slow

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from gateway.model.events import InboundEvent

NO_STREAMS = Streams(None, None, None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.sock"


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    with Pipes() as pipes:
        yield pipes


def mode(path: Path) -> int | None:
    """Return the permissions of a socket, None when there is none."""
    return stat.S_IMODE(path.stat().st_mode) if path.is_socket() else None


@asynccontextmanager
async def gateway(path: Path, core: Core, streams: Streams = NO_STREAMS) -> AsyncIterator[None]:
    """Run a gateway whose only consoles are the attached ones."""
    adapter = ConsoleAdapter(streams, clock=RealClock(), socket_path=path)
    running = asyncio.ensure_future(core.run(adapter))
    async with asyncio.timeout(10):
        while not mode(path):  # noqa: ASYNC110 - a file tells nobody that it is there
            await asyncio.sleep(0.001)
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_pipe_converses_through_the_gateway(path: Path, pipes: Pipes) -> None:
    core = Core()
    async with gateway(path, core):
        assert mode(path) == 0o600
        pipes.write("hi\n\n/new\nünï\n".encode())
        pipes.close(pipes.stdin)
        assert await asyncio.wait_for(attach(path, pipes.streams), 10) == 0
    pipes.hang_up()
    assert pipes.rest(pipes.stdout) == "echo: hi\necho: /new\necho: ünï\n".encode()
    assert pipes.rest(pipes.stderr) == b""
    assert not any(event.joinable for event in core.events)
    assert {event.place.id for event in core.events} == {PLACE}
    assert mode(path) is None


async def test_each_of_two_consoles_gets_the_answers_to_its_own_questions(path: Path) -> None:
    first, second = Pipes(), Pipes()
    with first, second:
        async with gateway(path, Core()):
            for number in range(20):
                first.write(f"first {number}\n".encode())
                second.write(f"second {number}\n".encode())
            first.close(first.stdin)
            second.close(second.stdin)
            both = [attach(path, pipes.streams) for pipes in (first, second)]
            assert await asyncio.wait_for(asyncio.gather(*both), 10) == [0, 0]
        for pipes, name in ((first, "first"), (second, "second")):
            pipes.hang_up()
            expected = "".join(f"echo: {name} {number}\n" for number in range(20))
            assert pipes.rest(pipes.stdout).decode() == expected


async def test_an_answer_streams_to_an_attached_terminal(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    person, core = Person(columns=100), Slow()
    async with gateway(path, core), person:
        attached = asyncio.ensure_future(attach(path, person.streams))
        await person.sees(">")
        person.type("tell me\r")
        _event, preview = await core.begun.get()
        assert preview is not None
        preview.update("**One**.\n\nTw")
        await person.sees("> tell me", "One.", "Tw", ">")
        preview.update("**One**.\n\nTwo\ud800")
        await person.sees("> tell me", "One.", "Two\ufffd", ">")
        core.answers.put_nowait("**One**.\n\nTwo.")
        await person.sees("> tell me", "One.", "Two.", ">")
        assert person.raw.count("\x1b[1mOne\x1b[0m") == 1
        person.type("\x04")
        assert await asyncio.wait_for(attached, 10) == 0


async def test_joined_messages_of_two_terminals_are_answered_on_both(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")

    async def answer(core: Core, event: InboundEvent) -> None:
        if event.text == "two":
            await core.reply(event, "joined")

    first, second = Person(columns=100), Person(columns=100)
    core = Core(answer)
    async with gateway(path, core), first, second:
        attached = [asyncio.ensure_future(attach(path, one.streams)) for one in (first, second)]
        await first.sees(">")
        await second.sees(">")
        first.type("one\r")
        await first.sees("> one", "…", ">")
        async with asyncio.timeout(10):
            while not core.events:  # noqa: ASYNC110 - the core is not there to wake tests
                await asyncio.sleep(0.001)
        second.type("two\r")
        await second.sees("> two", "joined", ">")
        await first.sees("> one", "joined", ">")
        for one in (first, second):
            one.type("\x04")
        assert await asyncio.wait_for(asyncio.gather(*attached), 10) == [0, 0]


async def test_without_a_gateway_the_remedy_is_said(path: Path, pipes: Pipes) -> None:
    assert await attach(path, pipes.streams) == 1
    pipes.hang_up()
    said = f"No gateway listens at {path}. Start one with: hermes-gateway run\n"
    assert pipes.rest(pipes.stderr).decode() == said
    assert pipes.rest(pipes.stdout) == b""


async def test_a_gateway_that_stops_ends_the_console_with_1(path: Path, pipes: Pipes) -> None:
    core = Slow()
    async with gateway(path, core):
        attached = asyncio.ensure_future(attach(path, pipes.streams))
        pipes.write(b"hi\n")
        await core.begun.get()
    assert await asyncio.wait_for(attached, 10) == 1
    pipes.hang_up()
    assert pipes.rest(pipes.stderr) == b"The gateway has stopped.\n"


async def test_a_reader_that_goes_away_ends_the_attached_console(path: Path, pipes: Pipes) -> None:
    pipes.close(pipes.stdout)
    pipes.write(b"one\ntwo\n")
    async with gateway(path, Core()):
        assert await asyncio.wait_for(attach(path, pipes.streams), 10) == 0
    pipes.hang_up()
    assert pipes.rest(pipes.stderr) == b""


async def test_an_answer_for_a_console_that_left_is_given_up(path: Path) -> None:
    core = Slow()
    async with gateway(path, core):
        reader, writer = await asyncio.open_unix_connection(sock=connect(path))
        writer.write(encode(LineFrame(line="hi", id="c_12345678", joinable=True)))
        event, preview = await core.begun.get()
        assert event.message == "c_12345678"
        assert preview is not None
        writer.close()
        await writer.wait_closed()
        del reader
        await asyncio.sleep(0.05)
        preview.update("nobody reads this")
        with pytest.raises(ConsoleClosedError) as raised:
            await core.reply(event, "nor this")
        assert raised.value.disposition is Disposition.GIVE_UP


LEFT_OVER = Part(
    "key", Address(PLATFORM, ACCOUNT, PLACE), RichText("from before"), reply_to=MessageId("c_old")
)


async def test_an_answer_to_an_earlier_process_waits_until_a_console_is_there(
    path: Path, pipes: Pipes
) -> None:
    core = Core()
    async with gateway(path, core):
        assert core.adapter is not None
        with pytest.raises(NoConsoleError) as raised:
            await core.adapter.send(LEFT_OVER)
        assert raised.value.disposition is Disposition.RETRY
        attached = asyncio.ensure_future(attach(path, pipes.streams))
        pipes.write(b"hi\n")
        assert await pipes.read(9) == b"echo: hi\n"
        await core.adapter.send(LEFT_OVER)
        assert await pipes.read(12) == b"from before\n"
        pipes.close(pipes.stdin)
        assert await asyncio.wait_for(attached, 10) == 0


async def test_an_answer_to_an_earlier_process_goes_to_the_own_console_first(
    path: Path, pipes: Pipes
) -> None:
    core = Core()
    async with gateway(path, core, pipes.streams):
        assert core.adapter is not None
        await core.adapter.send(LEFT_OVER)
        assert await pipes.read(12) == b"from before\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"hello\n",
        b"{}\n",
        b'{"kind":"line","line":"x","id":"../..","joinable":true}\n',
        b'{"kind":"notice","notice":"I am the gateway"}\n',
        b'{"kind":"line","line":"' + b"x" * 300 + b'"}\n',
    ],
)
async def test_a_stranger_to_the_protocol_is_cut_off_with_a_reason(
    path: Path, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "MAX_FRAME", 256)
    core = Core()
    async with gateway(path, core):
        reader, writer = await asyncio.open_unix_connection(sock=connect(path))
        writer.write(sent)
        frame = await asyncio.wait_for(read_frame(reader), 10)
        assert str(frame).startswith("kind='notice' notice='The console was cut off: ")
        assert await asyncio.wait_for(read_frame(reader), 10) is None
        writer.close()
        await writer.wait_closed()
    assert core.events == []


async def test_a_console_that_reads_no_more_holds_nobody_up(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "_MOST_WAITING", 100_000)
    core = Slow()
    async with gateway(path, core):
        _reader, writer = await asyncio.open_unix_connection(sock=connect(path), limit=1)
        writer.write(encode(LineFrame(line="hi", id="c_12345678", joinable=True)))
        event, _preview = await core.begun.get()
        with pytest.raises(ConsoleClosedError):
            await _flood(core, event)
        writer.close()


async def _flood(core: Core, event: InboundEvent) -> None:
    for _ in range(100):
        await core.reply(event, "x" * 50_000, last=False)


async def test_another_user_is_turned_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    core = Core()
    async with gateway(path, core):
        connection = connect(path)
        monkeypatch.setattr(os, "geteuid", lambda: 4242)
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        frame = await asyncio.wait_for(read_frame(reader), 10)
        assert str(frame) == "kind='notice' notice='This gateway belongs to another user.'"
        assert await asyncio.wait_for(read_frame(reader), 10) is None
        writer.close()
        await writer.wait_closed()
    assert core.events == []


async def test_a_gateway_of_another_user_is_not_talked_to(
    path: Path, pipes: Pipes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with gateway(path, Core()):
        monkeypatch.setattr(os, "geteuid", lambda: 4242)
        assert await attach(path, pipes.streams) == 1
    pipes.hang_up()
    said = f"The gateway at {path} belongs to another user.\n"
    assert pipes.rest(pipes.stderr).decode() == said


async def test_a_socket_that_nobody_answers_at_is_replaced(path: Path, pipes: Pipes) -> None:
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(path))
    stale.close()
    async with gateway(path, Core()):
        pipes.write(b"hi\n")
        pipes.close(pipes.stdin)
        assert await _until_answered(path, pipes) == 0


async def _until_answered(path: Path, pipes: Pipes) -> int:
    async with asyncio.timeout(10):
        while True:
            try:
                connect(path).close()
            except ConnectionRefusedError:
                await asyncio.sleep(0.001)
            else:
                return await attach(path, pipes.streams)


@pytest.fixture(params=["somebody listens", "a file"])
def taken(path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    with socket.socket(socket.AF_UNIX) as other:
        if request.param == "a file":
            path.write_text("precious")
        else:
            other.bind(str(path))
            other.listen()
        before = path.stat()
        yield path
        assert path.stat() == before


async def test_what_is_not_ours_is_left_alone(taken: Path, pipes: Pipes) -> None:
    pipes.close(pipes.stdin)
    adapter = ConsoleAdapter(pipes.streams, clock=RealClock(), socket_path=taken)
    await asyncio.wait_for(Core().run(adapter), 10)
    pipes.hang_up()
    said = f"No other console can attach: {taken} is in use\n"
    assert pipes.rest(pipes.stderr).decode() == said


async def test_a_home_that_lies_deep_can_be_attached_to(tmp_path: Path, pipes: Pipes) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    async with gateway(deep / "chat.sock", Core()):
        pipes.write(b"hi\n")
        pipes.close(pipes.stdin)
        assert await attach(deep / "chat.sock", pipes.streams) == 0
    assert mode(deep / "chat.sock") is None


async def test_consoles_can_attach_after_the_own_input_has_ended(path: Path, pipes: Pipes) -> None:
    adapter = ConsoleAdapter(pipes.streams, clock=RealClock(), socket_path=path)
    core = Core()
    core.adapter = adapter
    serving = asyncio.ensure_future(core.serve())
    pipes.close(pipes.stdin)
    await asyncio.wait_for(adapter.run(core), 10)
    with Pipes() as other:
        other.write(b"hi\n")
        other.close(other.stdin)
        assert await asyncio.wait_for(attach(path, other.streams), 10) == 0
        other.hang_up()
        assert other.rest(other.stdout) == b"echo: hi\n"
    await adapter.aclose()
    serving.cancel()


def test_the_socket_is_never_open_to_others(path: Path) -> None:
    umask = os.umask(0)
    try:
        with listen(path):
            assert mode(path) == 0o600
    finally:
        os.umask(umask)
