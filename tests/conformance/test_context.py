"""A session's context: what fits, in which order, and what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import honcho

    from tests.conformance.api import Api


def told(api: Api, **query: object) -> list[str]:
    context = api.get("sessions/s1/context", **query).json()
    return [each["content"] for each in context["messages"]]


def test_the_newest_that_fit_in_their_order(api: Api) -> None:
    api.say("s1", *(("ann", f"{number} apples and {number} pears") for number in range(50)))
    everything = told(api)
    some = told(api, tokens=100)
    assert len(everything) == 50
    assert 1 < len(some) < 50
    assert some == everything[-len(some) :]
    more = told(api, tokens=200)
    assert len(more) > len(some)


def test_one_that_does_not_fit_hides_what_is_before_it(api: Api) -> None:
    api.say("s1", ("ann", "short"), ("ann", "apples and pears " * 300), ("ann", "last"))
    assert told(api, tokens=100) == ["last"]


@pytest.mark.parametrize(("tokens", "status"), [(100_000, 200), (100_001, 422), ("x", 422)])
def test_the_largest_context(api: Api, tokens: object, status: int) -> None:
    assert api.get("sessions/s1/context", tokens=tokens).status_code == status


def test_an_unknown_session_is_empty(client: honcho.Honcho, api: Api) -> None:
    context = api.get("sessions/nowhere/context")
    assert context.status_code == 200
    assert context.json()["messages"] == []
    assert context.json()["summary"] is None
    assert context.json()["peer_representation"] is None


def test_the_summary_is_null_until_there_is_one(api: Api) -> None:
    api.say("s1", ("ann", "hello"))
    assert api.get("sessions/s1/context").json()["summary"] is None
    assert api.get("sessions/s1/summaries").json() == {
        "id": "s1",
        "short_summary": None,
        "long_summary": None,
    }


def test_cards_come_with_their_perspective(client: honcho.Honcho) -> None:
    ann, bot = client.peer("ann"), client.peer("bot")
    session = client.session("s1", peers=["ann", "bot"])
    session.add_messages(ann.message("hello"))
    ann.set_card(["her own words"])
    bot.set_card(["what the bot noted"], target="ann")
    own = session.context(tokens=2000, peer_target="ann")
    seen = session.context(tokens=2000, peer_target="ann", peer_perspective="bot")
    assert own.peer_card == ["her own words"]
    assert seen.peer_card == ["what the bot noted"]
    assert session.context(tokens=2000).peer_card is None


def test_confined_to_sessions_there_is_no_card(client: honcho.Honcho) -> None:
    ann = client.peer("ann")
    session = client.session("s1")
    session.add_messages(ann.message("hello"))
    ann.set_card(["a card"])
    alone = session.context(tokens=2000, peer_target="ann", limit_to_session=True)
    named = session.context(tokens=2000, peer_target="ann", sessions=["s1"])
    assert (alone.peer_card, named.peer_card) == (None, None)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"peer_perspective": "ann"}, 422),
        ({"sessions": "s1"}, 422),
        ({"peer_target": "ann", "sessions": "s2"}, 422),
        ({"peer_target": "ann", "sessions": "s1", "limit_to_session": "true"}, 422),
        ({"peer_target": "ann", "sessions": "s.1"}, 422),
        ({"peer_target": "ann", "max_conclusions": 101}, 422),
        ({"peer_target": "ann", "search_top_k": 0}, 422),
        ({"peer_target": "ann", "search_max_distance": 1.5}, 422),
        ({"peer_target": "ann", "peer_perspective": "nobody"}, 404),
        ({"peer_target": "nobody"}, 404),
        ({"peer_target": "ann", "scope": "no-such-scope"}, 404),
        ({"peer_target": "ann", "sessions": "s1"}, 200),
    ],
)
def test_what_may_be_asked_together(api: Api, query: dict[str, object], status: int) -> None:
    api.say("s1", ("ann", "hello"))
    assert api.get("sessions/s1/context", **query).status_code == status
