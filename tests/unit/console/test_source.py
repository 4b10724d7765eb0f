"""Kinds of standard input, and bytes cut into lines."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.console.source import InputKind, Line, LineSplitter, input_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LIMIT = 8


def split(*chunks: bytes) -> list[str | None]:
    splitter = LineSplitter(LIMIT)
    found = [line for chunk in chunks for line in splitter.feed(chunk)] + list(splitter.end())
    assert [line.number for line in found] == list(range(1, len(found) + 1))
    return [line.text for line in found]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb", ["a", "b"]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\n\r\n", ["a", ""]),
        (b"a\rb\n", ["a\rb"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"\xff\n", ["\ufffd"]),
        (b"12345678\n", ["12345678"]),
        (b"123456789\nok\n", [None, "ok"]),
        (b"ok\n" + b"x" * 100, ["ok", None]),
    ],
)
def test_lines(data: bytes, lines: list[str | None]) -> None:
    assert split(data) == lines
    assert split(*(data[at : at + 1] for at in range(len(data)))) == lines


@given(st.lists(st.binary(max_size=12)))
def test_it_does_not_matter_how_the_bytes_arrive(chunks: Sequence[bytes]) -> None:
    assert split(*chunks) == split(b"".join(chunks))


_CHARACTERS = st.characters(codec="utf-8", exclude_characters="\n\r\ufeff")


@given(st.lists(st.text(_CHARACTERS, max_size=2)))
def test_every_line_comes_out_as_it_went_in(lines: Sequence[str]) -> None:
    assert split("".join(f"{line}\n" for line in lines).encode()) == list(lines)


def test_an_unfinished_line_is_never_held_beyond_the_limit() -> None:
    splitter = LineSplitter(LIMIT)
    for _ in range(1000):
        assert list(splitter.feed(b"x" * LIMIT)) == []
    assert len(splitter._held) <= LIMIT
    assert list(splitter.feed(b"\n")) == [Line(1, None)]


@pytest.fixture
def descriptors(tmp_path: Path) -> Iterator[dict[str, int | None]]:
    (tmp_path / "file").touch()
    reading, writing = os.pipe()
    one, other = socket.socketpair()
    master, slave = os.openpty()
    null = os.open(os.devnull, os.O_RDONLY)
    file = os.open(tmp_path / "file", os.O_RDONLY)
    closed = os.dup(file)
    os.close(closed)
    yield {
        "none": None,
        "closed": closed,
        "null device": null,
        "file": file,
        "pipe": reading,
        "socket": one.fileno(),
        "terminal": slave,
    }
    one.close()
    other.close()
    for fd in (reading, writing, master, slave, null, file):
        os.close(fd)


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        ("none", InputKind.OFF),
        ("closed", InputKind.OFF),
        ("null device", InputKind.OFF),
        ("file", InputKind.STREAM),
        ("pipe", InputKind.STREAM),
        ("socket", InputKind.STREAM),
        ("terminal", InputKind.TERMINAL),
    ],
)
def test_kinds_of_input(descriptors: dict[str, int | None], what: str, kind: InputKind) -> None:
    assert input_kind(descriptors[what]) is kind
