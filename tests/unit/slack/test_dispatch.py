"""Which team a payload is for, and what is said of one that is for nobody."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from adapters.slack.dispatch import Dispatcher, teams_of
from adapters.slack.inlet import Inlet
from adapters.slack.people import View
from gateway.model.errors import StoreBusyError
from gateway.model.ids import AccountId, ScopeId
from tests.fakes.clock import FakeClock
from tests.unit.slack.samples import ME, VIEW, message, payload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.ports import Cursor, Received


class Kept:
    """An intake that keeps texts, or refuses."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.cursors: list[str | None] = []
        self.refusing = False

    async def accept(
        self, account: object, received: Sequence[Received], cursor: Cursor | None = None
    ) -> None:
        if self.refusing:
            raise StoreBusyError("busy")
        self.texts += [each.event.text if each.event else each.fault for each in received]
        self.cursors.append(None if cursor is None else cursor.value)

    async def cursor(self, name: str) -> str | None:
        return None


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def inlet(kept: Kept) -> Inlet:
    return Inlet(VIEW, kept, FakeClock())


@pytest.mark.parametrize(
    ("body", "teams"),
    [
        ({"team_id": "T1"}, ["T1"]),
        ({"team_id": "T9", "authorizations": [{"team_id": "T1"}]}, ["T1", "T9"]),
        ({"team_id": "T9", "context_team_id": "T1"}, ["T1", "T9"]),
        ({"authorizations": [{"enterprise_id": "E1", "team_id": None}]}, ["E1"]),
        ({"team_id": 7, "authorizations": "x"}, []),
        ({"authorizations": ["x", None]}, []),
    ],
)
def test_the_installation_counts_before_the_place(body: dict[str, Any], teams: list[str]) -> None:
    assert teams_of(body) == teams


async def test_each_team_gets_its_own(kept: Kept, inlet: Inlet) -> None:
    other = Kept()
    me = replace(ME, account=AccountId("1002"), team=ScopeId("T2"))
    dispatcher = Dispatcher("secret")
    with dispatcher.attached(inlet), dispatcher.attached(Inlet(View(me), other, FakeClock())):
        assert await dispatcher.from_socket(payload(message("one")))
        assert await dispatcher.from_socket(payload(message("two"), team_id="T2"))
        assert await dispatcher.from_socket(payload(message("lost"), team_id="T3"))
    assert (kept.texts, other.texts) == (["one"], ["two"])


async def test_a_team_that_is_still_coming_gets_it_later(kept: Kept, inlet: Inlet) -> None:
    dispatcher = Dispatcher("secret")
    assert not await dispatcher.from_socket(payload(message("early")))
    with dispatcher.expecting(AccountId("1002")), dispatcher.attached(inlet):
        assert not await dispatcher.from_socket(payload(message("early"), team_id="T2"))
        assert await dispatcher.from_socket(payload(message("ours")))
    assert kept.texts == ["ours"]


async def test_what_names_no_team_is_set_aside(kept: Kept, inlet: Inlet) -> None:
    dispatcher = Dispatcher("secret")
    with dispatcher.attached(inlet):
        assert await dispatcher.from_socket("garbage")
        assert await dispatcher.from_socket({"event": "garbage"})
        assert await dispatcher.from_socket({"event": {"user": {"id": 7}}, "team_id": "T1"})
    assert len(kept.texts) == 3
    assert all(text.startswith("payload") for text in kept.texts)


@pytest.mark.parametrize("kind", ["block_actions", "view_submission", "app_rate_limited"])
async def test_what_nobody_asked_for_is_acknowledged(kept: Kept, inlet: Inlet, kind: str) -> None:
    dispatcher = Dispatcher("secret")
    with dispatcher.attached(inlet):
        assert await dispatcher.from_socket({"type": kind, "team": {"id": "T1"}})
    assert kept.texts == []


async def test_the_environment_of_other_bolt_apps_changes_nothing(
    kept: Kept, inlet: Inlet, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("SLACK_BOT_TOKEN", "SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"):
        monkeypatch.setenv(name, "xoxb-1-a,xoxb-2-b")
    dispatcher = Dispatcher("secret")
    with dispatcher.attached(inlet):
        assert await dispatcher.from_socket(payload(message("hello")))
    assert kept.texts == ["hello"]
    assert caplog.records == []


async def test_a_burst_is_sorted_and_stored_at_once(kept: Kept, inlet: Inlet) -> None:
    stamps = ["1795982000.000300", "1795982000.000100", "1795982000.000200"]
    await asyncio.gather(*(inlet.put(payload(message(ts, ts=ts))) for ts in stamps))
    assert kept.texts == sorted(stamps)
    assert len(kept.cursors) == 1


async def test_the_cursor_moves_only_when_nothing_is_missing(kept: Kept, inlet: Inlet) -> None:
    await inlet.put(payload(message("a", ts="1795982000.000200")))
    await inlet.mark("1795982000.000100", complete=True)
    await inlet.put(payload(message("b", ts="1795982000.000150")))
    await inlet.put(payload(message("c", ts="1795982000.000300")))
    assert kept.cursors == [None, *["1795982000.000200"] * 2, "1795982000.000300"]


async def test_what_was_refused_moves_no_cursor(kept: Kept, inlet: Inlet) -> None:
    await inlet.mark("1795982000.000100", complete=True)
    kept.refusing = True
    assert not await inlet.put(payload(message("a", ts="1795982000.000200")))
    kept.refusing = False
    assert await inlet.put(
        payload(
            {
                "type": "reaction_added",
                "user": "U1",
                "item": {"channel": "C1"},
                "event_ts": "1795982001.000100",
            }
        )
    )
    assert kept.cursors == ["1795982000.000100"] * 2


async def test_closing_leaves_nobody_waiting(
    inlet: Inlet, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Kept, "accept", never)
    first = asyncio.create_task(inlet.put(payload(message("a"))))
    await asyncio.sleep(0.01)
    second = asyncio.create_task(inlet.put(payload(message("b"))))
    await asyncio.sleep(0.01)
    await inlet.aclose()
    assert (await first, await second) == (False, False)
