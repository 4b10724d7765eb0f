"""Previews: when a text is shown, and what ends it."""

from __future__ import annotations

import asyncio

import pytest

from gateway.live import FAREWELL, Board, Live, Rhythm, Shown
from gateway.model.errors import (
    AmbiguousSendError,
    Disposition,
    GatewayError,
    PlatformError,
    RateLimitedError,
)
from gateway.model.ids import AccountId, MessageId, PlaceId, PlatformName, TurnId
from gateway.model.outbound import Address
from tests.fakes.clock import FakeClock

HERE, THERE = PlaceId("1"), PlaceId("2")
ADDRESS = Address(PlatformName("p"), AccountId("a"), HERE)
PAUSE = 2.0


class Screen:
    """Keeps what was shown and when; raises what it is told to."""

    def __init__(self, clock: FakeClock, *troubles: GatewayError | None) -> None:
        self.shown: list[tuple[float, str]] = []
        self.hold: asyncio.Event | None = None
        self._clock = clock
        self._troubles = list(troubles)

    async def show(self, text: str) -> None:
        self.shown.append((self._clock.monotonic(), text))
        if self.hold is not None:
            await self.hold.wait()
        if self._troubles and (trouble := self._troubles.pop(0)) is not None:
            raise trouble

    def live(self, rhythm: Rhythm, place: PlaceId = HERE, *, repeatable: bool = False) -> Live:
        return Live(self.show, rhythm, place, pause=PAUSE, repeatable=repeatable)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def test_the_newest_words_are_shown_once_each_pause(clock: FakeClock) -> None:
    screen = Screen(clock)
    live = screen.live(Rhythm(clock))
    for text in ("a", "ab", "abc"):
        live.update(text)
    await clock.advance(1.9)
    assert screen.shown == []
    await clock.advance(0.1)
    live.update("abcd")
    await clock.advance(10)
    assert screen.shown == [(2.0, "abc"), (4.0, "abcd")]
    await live.close()


async def test_a_short_answer_is_never_shown(clock: FakeClock) -> None:
    screen = Screen(clock)
    live = screen.live(Rhythm(clock))
    live.update("yes")
    await clock.advance(1)
    await live.close()
    live.update("too late")
    await clock.advance(10)
    assert screen.shown == []


async def test_one_place_has_one_rhythm(clock: FakeClock) -> None:
    screen, rhythm = Screen(clock), Rhythm(clock)
    lives = [screen.live(rhythm), screen.live(rhythm), screen.live(rhythm, THERE)]
    for name, live in zip("abc", lives, strict=True):
        live.update(name)
    await clock.advance(10)
    assert sorted(screen.shown) == [(2.0, "a"), (2.0, "c"), (4.0, "b")]
    for live in lives:
        await live.close()


@pytest.mark.parametrize(("asked", "seconds"), [(7.0, 7.0), (0.5, PAUSE)])
async def test_a_rate_limit_is_waited_out(clock: FakeClock, asked: float, seconds: float) -> None:
    screen = Screen(clock, RateLimitedError(retry_after=asked))
    live = screen.live(Rhythm(clock))
    live.update("a")
    await clock.advance(20)
    assert screen.shown == [(2.0, "a"), (2.0 + seconds, "a")]
    await live.close()


@pytest.mark.parametrize(
    ("trouble", "repeatable", "calls"),
    [
        (PlatformError(disposition=Disposition.RETRY), False, 2),
        (PlatformError(disposition=Disposition.GIVE_UP), True, 1),
        (AmbiguousSendError(), False, 1),
        (AmbiguousSendError(), True, 2),
    ],
)
async def test_what_ends_a_preview(
    clock: FakeClock, trouble: PlatformError, repeatable: bool, calls: int
) -> None:
    screen = Screen(clock, trouble)
    live = screen.live(Rhythm(clock), repeatable=repeatable)
    live.update("a")
    await clock.advance(3)
    live.update("ab")
    await clock.advance(3)
    assert len(screen.shown) == calls
    await live.close()


async def test_a_call_under_way_may_end_before_the_preview_does(clock: FakeClock) -> None:
    screen = Screen(clock)
    screen.hold = asyncio.Event()
    live = screen.live(Rhythm(clock))
    live.update("a")
    await clock.advance(2)
    closing = asyncio.create_task(live.close())
    await asyncio.sleep(0)
    assert not closing.done()
    screen.hold.set()
    async with asyncio.timeout(FAREWELL / 2):
        await closing


# --- the message that is taken over ----------------------------------------------------------


async def posted() -> MessageId:
    return MessageId("7")


async def never() -> MessageId:
    await asyncio.Event().wait()
    raise AssertionError


async def failing(disposition: Disposition) -> MessageId:
    raise PlatformError(disposition=disposition)


async def test_a_posted_message_is_known() -> None:
    shown = Shown(ADDRESS)
    await shown.post(posted())
    assert (shown.message, shown.lost) == ("7", False)


@pytest.mark.parametrize("disposition", list(Disposition))
async def test_only_an_open_outcome_loses_the_message(disposition: Disposition) -> None:
    shown = Shown(ADDRESS)
    with pytest.raises(PlatformError):
        await shown.post(failing(disposition))
    assert shown.lost is (disposition is Disposition.AMBIGUOUS)


async def test_a_post_that_is_cut_off_loses_the_message() -> None:
    shown = Shown(ADDRESS)
    posting = asyncio.create_task(shown.post(never()))
    await asyncio.sleep(0)
    posting.cancel()
    await asyncio.gather(posting, return_exceptions=True)
    assert shown.lost


def test_a_turn_keeps_its_message_until_it_is_settled() -> None:
    board, turn = Board(), TurnId("t")
    shown = board.open(turn, ADDRESS)
    assert board.open(turn, ADDRESS) is shown
    assert board.standing() == []
    shown.message = MessageId("7")
    assert board.standing() == [shown]
    board.settle(turn)
    assert (board.find(turn), board.find(None)) == (None, None)


def test_a_board_does_not_grow_for_ever() -> None:
    board = Board()
    for number in range(1_005):
        board.open(TurnId(str(number)), ADDRESS)
    assert board.find(TurnId("0")) is None
    assert board.find(TurnId("1004")) is not None
