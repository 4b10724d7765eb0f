"""Lines as events, keys as decisions, and what the console says of itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.console.adapter import ConsoleAdapter, create
from adapters.console.front import Streams
from adapters.console.manifest import CAPABILITIES, MANIFEST
from adapters.console.parse import parse_line
from adapters.console.sink import Piece
from adapters.console.terminal import Press, pressed
from adapters.console.wire import AnswerFrame
from gateway.model.capabilities import Resend
from gateway.model.events import Command, InboundEvent, PlaceKind, SenderKind
from gateway.model.ids import MessageId, PlaceId
from gateway.model.outbound import RichText
from gateway.settings.schema import ConsoleSettings
from gateway.text.markup import parse
from tests.integration.console.core import RealClock

if TYPE_CHECKING:
    from gateway.ports import Adapter

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def parsed(line: str) -> InboundEvent | None:
    return parse_line(line, message=MessageId("c_1"), sent_at=AT, joinable=False)


@pytest.mark.parametrize(
    ("line", "text", "command"),
    [
        ("hello", "hello", None),
        ("  hello\t", "hello", None),
        ("a\0b", "ab", None),
        ("a\ud800", "a\ufffd", None),
        ("/new", "/new", Command("new")),
        (" /Title My day ", "/Title My day", Command("title", "My day")),
        ("/etc/hosts", "/etc/hosts", None),
        ("/new@some_bot", "/new@some_bot", None),
        ("two\nlines", "two\nlines", None),
    ],
)
def test_a_line_becomes_an_event(line: str, text: str, command: Command | None) -> None:
    event = parsed(line)
    assert event is not None
    assert (event.text, event.command, event.foreign_command) == (text, command, False)
    assert (event.place.kind, event.sender.kind) == (PlaceKind.DIRECT, SenderKind.OPERATOR)
    assert (event.sender.id, event.sent_at, event.joinable) == (None, AT, False)
    assert event.dedupe_key == '["console","console","console","c_1",""]'


@pytest.mark.parametrize("line", ["", " ", "\t\r", "\0", "\u200b\u200d", "\u3164"])
def test_a_blank_line_is_no_message(line: str) -> None:
    assert parsed(line) is None


def test_the_place_is_passed_in() -> None:
    event = parse_line(
        "x", message=MessageId("c_1"), sent_at=AT, joinable=True, place=PlaceId("other")
    )
    assert event is not None
    assert event.place.id == "other"


@pytest.mark.parametrize(
    ("typed", "busy", "before", "meaning"),
    [
        ("half", False, None, Press.CLEAR),
        ("half", True, Press.WARN, Press.CLEAR),
        ("", True, None, Press.STOP),
        ("", True, Press.CLEAR, Press.STOP),
        ("", True, Press.STOP, Press.WARN),
        ("", True, Press.WARN, Press.LEAVE),
        ("", False, None, Press.WARN),
        ("", False, Press.STOP, Press.WARN),
        ("", False, Press.CLEAR, Press.WARN),
        ("", False, Press.WARN, Press.LEAVE),
    ],
)
def test_what_ctrl_c_means(typed: str, busy: bool, before: Press | None, meaning: Press) -> None:
    assert pressed(typed, busy=busy, before=before) is meaning


@given(st.text(), st.booleans(), st.lists(st.sampled_from(["one", "two"])).map(tuple))
def test_a_part_passes_through_the_wire_unchanged(
    markdown: str, last: bool, to: tuple[str, ...]
) -> None:
    piece = Piece(parse(markdown), turn="t_1", to=to, last=last)
    frame = AnswerFrame.of(piece)
    assert AnswerFrame.model_validate_json(frame.model_dump_json()).piece() == piece


def test_half_a_character_cannot_break_the_wire() -> None:
    frame = AnswerFrame.of(Piece(RichText("a\ud800b")))
    assert AnswerFrame.model_validate_json(frame.model_dump_json()).answer == "a?b"


def test_manifest() -> None:
    assert (MANIFEST.name, MANIFEST.secrets) == ("console", ())
    assert MANIFEST.check(ConsoleSettings(), {}) == []
    assert CAPABILITIES.preview
    assert not CAPABILITIES.has_users
    assert CAPABILITIES.resend is Resend.NEVER


def test_the_factory_builds_what_the_settings_allow() -> None:
    assert create(ConsoleSettings(enabled=False), {}, clock=RealClock()) == []
    adapters = create(ConsoleSettings(), {}, clock=RealClock())
    assert [(adapter.platform, adapter.account) for adapter in adapters] == [
        ("console", "console")
    ]


async def test_the_adapter_is_one_by_contract() -> None:
    adapter: Adapter = ConsoleAdapter(Streams(None, None, None), clock=RealClock())
    assert adapter.capabilities is CAPABILITIES
