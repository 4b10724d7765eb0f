"""Giving way to refusals, and pace: decisions without a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adapters.telegram.errors import ENTITIES, REPLY, THREAD, ChatMovedError
from adapters.telegram.manifest import TELEGRAM
from adapters.telegram.pace import Pacer
from adapters.telegram.sink import first_draft, lesser_draft
from gateway.model.errors import PlatformError, RateLimitedError
from gateway.model.ids import AccountId, MessageId, PlaceId, ThreadId
from gateway.model.outbound import Address, Part, RichText, Span, SpanKind
from tests.fakes.skipping import SkippingClock

if TYPE_CHECKING:
    from adapters.telegram.drafts import Draft

GROUP, MOVED = PlaceId("-4455667"), PlaceId("-1005550004444")
ANN, BOB = PlaceId("42"), PlaceId("43")
TEXT = RichText("see this", (Span(SpanKind.LINK, 4, 8, "https://example.org"),))


def part(thread: str | None = "55", place: PlaceId = GROUP) -> Part:
    address = Address(
        TELEGRAM, AccountId("1"), place, None if thread is None else ThreadId(thread)
    )
    return Part("key", address, TEXT, reply_to=MessageId("9"))


def steps(draft: Draft, error: PlatformError) -> list[str]:
    """Return what gives way, one after the other, while ``error`` stays."""
    found = []
    while (lesser := lesser_draft(draft, part(), error)) is not None:
        draft, label = lesser
        found.append(label)
        assert len(found) < 9
    return found


@pytest.mark.parametrize("thread", [None, "1"])
def test_general_is_answered_without_a_thread(thread: str | None) -> None:
    """H-25."""
    assert first_draft(part(thread)).thread is None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (PlatformError(code=ENTITIES), ["plain"]),
        (PlatformError(code=THREAD), ["no-thread"]),
        (PlatformError(code=REPLY), ["no-reply"]),
        (PlatformError(code="refused"), []),
        (PlatformError(code="too_long"), []),
        (RateLimitedError(retry_after=3), []),
        (ChatMovedError(MOVED), ["no-reply"]),
    ],
)
def test_each_refusal_is_answered_once(error: PlatformError, expected: list[str]) -> None:
    assert steps(first_draft(part()), error) == expected


def test_plain_text_keeps_the_address_of_a_link() -> None:
    lesser = lesser_draft(first_draft(part()), part(), PlatformError(code=ENTITIES))
    assert lesser is not None
    assert (lesser[0].text, lesser[0].entities) == ("see this (https://example.org)", ())


def test_without_its_thread_a_part_stays_in_its_chat() -> None:
    """H-25: an answer for a group never goes to anybody's private chat."""
    lesser = lesser_draft(first_draft(part()), part(), PlatformError(code=THREAD))
    assert lesser is not None
    assert (lesser[0].place, lesser[0].thread, lesser[0].reply_to) == (GROUP, None, "9")


def test_numbers_of_the_old_group_are_not_taken_to_the_new_one() -> None:
    lesser = lesser_draft(first_draft(part()), part(), ChatMovedError(MOVED))
    assert lesser is not None
    assert (lesser[0].place, lesser[0].thread, lesser[0].reply_to) == (MOVED, None, None)


def test_text_stays_out_of_representations() -> None:
    assert "see this" not in repr(first_draft(part()))


# --- pace ---------------------------------------------------------------------------------------


async def test_messages_to_one_chat_are_a_second_apart_after_a_burst() -> None:
    clock = SkippingClock()
    pacer = Pacer(clock)
    for _ in range(3):
        await pacer.take_turn(ANN)
    assert clock.slept == []
    for _ in range(2):
        await pacer.take_turn(ANN)
    assert sum(clock.slept) == pytest.approx(2.0)
    await pacer.take_turn(BOB)
    assert sum(clock.slept) == pytest.approx(2.0)


async def test_a_pause_is_not_slept_and_concerns_one_chat() -> None:
    """H-34: not before the asked time, and nobody else waits."""
    clock = SkippingClock()
    pacer = Pacer(clock)
    pacer.obey(ANN, RateLimitedError(retry_after=30))
    with pytest.raises(RateLimitedError) as caught:
        await pacer.take_turn(ANN)
    assert caught.value.retry_after == pytest.approx(30)
    await pacer.take_turn(BOB)
    assert clock.slept == []
    clock.elapsed += 29.5
    await pacer.take_turn(ANN)
    assert clock.slept == [pytest.approx(0.5)]


async def test_a_wait_of_the_whole_bot_concerns_every_chat() -> None:
    pacer = Pacer(SkippingClock())
    pacer.obey(ANN, RateLimitedError(retry_after=30, whole_account=True))
    with pytest.raises(RateLimitedError):
        await pacer.take_turn(BOB)


async def test_typing_counts_and_stops_while_the_chat_is_paused() -> None:
    clock = SkippingClock()
    pacer = Pacer(clock)
    assert pacer.try_typing(ANN)
    assert pacer.try_typing(ANN)
    assert not pacer.try_typing(ANN)
    await pacer.take_turn(ANN)
    assert clock.slept == []
    await pacer.take_turn(ANN)
    assert sum(clock.slept) == pytest.approx(1.0)
    clock.elapsed += 5
    pacer.obey(ANN, RateLimitedError(retry_after=30))
    assert not pacer.try_typing(ANN)
    assert pacer.try_typing(BOB)


async def test_typing_leaves_a_groups_minute_to_messages() -> None:
    clock = SkippingClock()
    pacer = Pacer(clock)
    shown = 0
    for _ in range(12):
        shown += pacer.try_typing(GROUP)
        clock.elapsed += 4
    assert shown == 10
    for _ in range(8):
        await pacer.take_turn(GROUP)
    assert max(clock.slept) <= 1.1
