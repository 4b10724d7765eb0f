"""What only the embedded service promises to refuse, and how."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.integration.memory.embedded.household import Household


@pytest.mark.parametrize("kind", ["peers", "sessions"])
async def test_ids_of_more_than_a_hundred_characters(home: Household, kind: str) -> None:
    (fault,) = (await home.post(kind, {"id": "x" * 101})).json()["detail"]
    assert (fault["type"], fault["ctx"]) == ("string_too_long", {"max_length": 100})


@pytest.mark.parametrize(
    "path",
    [
        "sessions/bad.id/context",
        "sessions/s1/peers/a:b/config",
        "peers/a@b/card",
        "peers/%E9/card",
    ],
)
async def test_bad_ids_in_paths(home: Household, path: str) -> None:
    (fault,) = (await home.get(path)).json()["detail"]
    assert (fault["type"], fault["loc"][0]) == ("string_pattern_mismatch", "path")


@pytest.mark.parametrize(
    "raw",
    [
        '{"messages": [{"peer_id": "ann", "content": "\\ud800 alone"}]}',
        '{"messages": [{"peer_id": "\\ud800", "content": "x"}]}',
        '{"messages": [{"peer_id": "ann", "content": "x", "metadata": {"a": NaN}}]}',
        '{"messages": [{"peer_id": "ann", "content": "x", "metadata": {"a": 1e999}}]}',
    ],
)
async def test_what_no_database_can_hold(home: Household, raw: str) -> None:
    answer = await home.raw.post(
        "sessions/s1/messages", content=raw, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.content.isascii()
    assert isinstance(json.loads(answer.text)["detail"], list)


async def test_a_refusal_echoes_what_was_sent(home: Household) -> None:
    body = {"messages": [{"peer_id": "ann", "content": "x" * 25_001}]}
    (fault,) = (await home.post("sessions/s1/messages", body)).json()["detail"]
    assert fault["input"] == "x" * 25_001


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"metadata": {"n": 2**70}}, 0),
        ({"metadata": {"n": {"lt": 2**70}}}, 1),
        ({"metadata": {"n": {"gt": -(2**70)}}}, 1),
        ({"metadata": {"n": 1.0}}, 1),
        ({"metadata": {"n": "1"}}, 0),
        ({"metadata": {"n": True}}, 0),
        ({"metadata": {"n": None}}, 0),
        ({"metadata": {"z": None}}, 1),
        ({"metadata": {"missing": {"ne": 1}}}, 0),
        ({"metadata": {"n": {"in": [1, "1", None]}}}, 1),
        ({"metadata": {"n": {"in": ["1"]}}}, 0),
        ({"metadata": {"t": {"contains": "%"}}}, 0),
        ({"metadata": {"t": {"contains": "a_b"}}}, 1),
        ({"metadata": {"t": {"gte": "a"}}}, 1),
        ({"metadata": {"t": {"gte": 0}}}, 0),
        ({"metadata": {"o": {}}}, 1),
        ({"metadata": {"o": {"x": [1]}}}, 1),
        ({"metadata": {"o": {"x": [3]}}}, 0),
        ({"metadata": {"contains": {"o": {"x": [2]}}}}, 1),
        ({"metadata": {"t": "a_b\0"}}, 1),
        ({"token_count": {"lt": 2**70}}, 1),
        ({"token_count": 1}, 1),
        ({"peer_id": None}, 0),
        ({"peer_id": {"ne": None}}, 1),
        ({"OR": []}, 1),
        ({"AND": [], "NOT": []}, 1),
    ],
)
async def test_filters_on_every_kind_of_value(
    home: Household, filters: dict[str, Any], found: int
) -> None:
    metadata = {"n": 1, "t": "a_b", "z": None, "o": {"x": [1, 2], "y": "q"}}
    await home.say("s1", ("ann", "x"), metadata=metadata)
    listed = await home.post("sessions/s1/messages/list", {"filters": filters})
    assert (listed.status_code, listed.json().get("total")) == (200, found)


@pytest.mark.parametrize(
    "filters",
    [
        {"metadata": {"n": {"gte": True}}},
        {"metadata": {"n": {"gte": None}}},
        {"metadata": {"n": {"in": 1}}},
        {"metadata": {"n": {"gte": 1, "like": 2}}},
        {"metadata": {"gte": 1}},
        {"AND": [7]},
        {"peer_id": {"contains": 7}},
        {"token_count": {"contains": "1"}},
        {"token_count": True},
        {"peer_id": {"gte": None}},
    ],
)
async def test_filters_that_mean_nothing(home: Household, filters: dict[str, Any]) -> None:
    answer = await home.post("sessions/s1/messages/list", {"filters": filters})
    assert answer.status_code == 422
    assert isinstance(answer.json()["detail"], str)


async def test_a_page_behind_every_end(home: Household) -> None:
    await home.say("s1", ("ann", "x"))
    listed = await home.post("sessions/s1/messages/list", {}, page=10**30)
    assert (listed.status_code, listed.json()["items"]) == (200, [])


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("peers/ann/chat", {"query": "x", "scope": "team"}, 404),
        ("peers/ann/representation", {"scope": ["team"]}, 404),
        ("sessions", {"id": "s9", "scopes": ["team"]}, 404),
        ("search", {"query": "x", "scope": "team"}, 404),
        ("peers/ann/chat", {"query": "x", "response_format": {"type": "object"}}, 422),
        ("peers/ann/chat", {"query": "x", "session_id": "s1", "filters": {"session_id": []}}, 422),
        ("peers/ann/representation", {"session_id": "s1", "filters": {"session_id": "s2"}}, 422),
        ("scopes", {"id": "team"}, 404),
        ("chat", {"query": "x"}, 404),
    ],
)
async def test_a_narrowing_that_is_not_known_is_refused(
    home: Household, path: str, body: dict[str, Any], status: int
) -> None:
    await home.say("s1", ("ann", "I keep a canary."))
    assert (await home.post(path, body)).status_code == status


async def test_conclusions_can_be_filtered(home: Household) -> None:
    for peer in ("bot", "ann"):
        await home.post("peers", {"id": peer})
    await home.post("sessions", {"id": "s1"})
    made = [
        {"content": "one", "observer_id": "bot", "observed_id": "ann", "session_id": "s1"},
        {"content": "two", "observer_id": "bot", "observed_id": "ann"},
        {"content": "three", "observer_id": "ann", "observed_id": "ann"},
    ]
    created = (await home.post("conclusions", {"conclusions": made})).json()

    async def found(filters: dict[str, Any], **query: Any) -> list[str]:
        listed = (await home.post("conclusions/list", {"filters": filters}, **query)).json()
        return [each["content"] for each in listed["items"]]

    assert await found({}) == ["three", "two", "one"]
    assert await found({}, reverse="true") == ["one", "two", "three"]
    assert await found({"observer_id": "bot"}) == ["two", "one"]
    assert await found({"observer": "ann", "observed": "ann"}) == ["three"]
    assert await found({"session_id": "s1"}) == ["one"]
    assert await found({"session_id": None}) == ["three", "two"]
    assert await found({"NOT": [{"session_id": "s1"}]}) == ["three", "two"]
    assert await found({"id": {"in": [created[0]["id"]]}}) == ["one"]
    assert await found({"level": "deductive"}) == []
