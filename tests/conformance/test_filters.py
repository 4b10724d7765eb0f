"""The filter language, on messages and elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conformance.api import Api

MESSAGES: list[tuple[str, dict[str, Any]]] = [
    ("ann", {"n": 1, "tag": "red", "in": {"deep": {"x": 1}}, "list": ["a", "b"]}),
    ("bob", {"n": 2, "tag": "Blue", "flag": True, "in": {"deep": {"x": 2}}}),
    ("ann", {"n": 10, "tag": "blue-green", "flag": False, 'odd "key"': "yes"}),
    ("bob", {}),
]
TIMES = ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"]


@pytest.fixture
def filled(api: Api) -> Api:
    messages = [
        {"peer_id": peer, "content": str(number), "metadata": metadata, "created_at": moment}
        for number, ((peer, metadata), moment) in enumerate(
            zip(MESSAGES, [*TIMES, TIMES[-1]], strict=True)
        )
    ]
    assert api.post("sessions/s1/messages", {"messages": messages}).status_code == 201
    return api


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, "0123"),
        ({"peer_id": "ann"}, "02"),
        ({"peer_id": ["ann", "cy"]}, "02"),
        ({"peer_id": {"in": ["bob"]}}, "13"),
        ({"peer_id": {"in": []}}, ""),
        ({"peer_id": {"ne": "bob"}}, "02"),
        ({"peer_id": {"contains": "AN"}}, "02"),
        ({"peer_id": "*"}, "0123"),
        ({"created_at": {"gte": TIMES[1]}}, "123"),
        ({"created_at": {"gte": "2026-01-01", "lt": "2026-02-15"}}, "01"),
        ({"metadata": {"n": 1}}, "0"),
        ({"metadata": {"tag": "red", "n": 1}}, "0"),
        ({"metadata": {"tag": "re"}}, ""),
        ({"metadata": {"in": {"deep": {"x": 2}}}}, "1"),
        ({"metadata": {"flag": True}}, "1"),
        ({"metadata": {"flag": False}}, "2"),
        ({"metadata": {"list": ["b"]}}, "0"),
        ({"metadata": {'odd "key"': "yes"}}, "2"),
        ({"metadata": {"tag": {"in": ["red", "Blue", "none"]}}}, "01"),
        ({"metadata": {"tag": {"in": []}}}, ""),
        ({"metadata": {"n": {"gte": 2}}}, "12"),
        ({"metadata": {"n": {"gt": 1, "lt": 10}}}, "1"),
        ({"metadata": {"tag": {"contains": "blue"}}}, "12"),
        ({"metadata": {"tag": {"icontains": "RED"}}}, "0"),
        ({"metadata": {"tag": {"ne": "red"}}}, "12"),
        ({"metadata": {"tag": "*"}}, "0123"),
        ({"AND": [{"peer_id": "ann"}, {"metadata": {"n": 10}}]}, "2"),
        ({"OR": [{"metadata": {"n": 1}}, {"metadata": {"n": 2}}]}, "01"),
        ({"NOT": [{"metadata": {"n": 1}}]}, "123"),
        ({"NOT": [{"peer_id": "bob"}, {"metadata": {"n": 1}}]}, "2"),
        ({"peer_id": "bob", "OR": [{"metadata": {"n": 1}}, {"metadata": {"n": 2}}]}, "1"),
        ({"session_id": "s1"}, "0123"),
        ({"session_id": "s2"}, ""),
    ],
)
def test_filters(filled: Api, filters: dict[str, Any], expected: str) -> None:
    answer = filled.post("sessions/s1/messages/list", {"filters": filters})
    assert answer.status_code == 200
    assert "".join(each["content"] for each in answer.json()["items"]) == expected
    assert answer.json()["total"] == len(expected)


@pytest.mark.parametrize(
    "filters",
    [
        {"id": "x"},
        {"content": "x"},
        {"seq": 1},
        {"nonsense": 1},
        {"peer_id": 7},
        {"peer_id": {"like": "a"}},
        {"peer_id": {"in": "ann"}},
        {"created_at": {"gte": "yesterday"}},
        {"created_at": {"gte": 7}},
        {"metadata": "text"},
        {"AND": {"peer_id": "ann"}},
        {"NOT": None},
        {"token_count": {"gte": "many"}},
    ],
)
def test_what_is_not_understood_is_refused(filled: Api, filters: dict[str, Any]) -> None:
    assert filled.post("sessions/s1/messages/list", {"filters": filters}).status_code == 422


def test_a_filter_without_end_is_refused(filled: Api) -> None:
    nested: dict[str, Any] = {"peer_id": "ann"}
    for _ in range(7):
        nested = {"AND": [nested]}
    assert filled.post("sessions/s1/messages/list", {"filters": nested}).status_code == 422


def test_reconciling_by_a_hundred_keys(api: Api) -> None:
    messages = [
        {"peer_id": "ann", "content": str(number), "metadata": {"gw_id": f"k{number}"}}
        for number in range(0, 100, 2)
    ]
    api.post("sessions/s1/messages", {"messages": messages})
    keys = [f"k{number}" for number in range(100)]
    filters = {"metadata": {"gw_id": {"in": keys}}}
    page = api.post("sessions/s1/messages/list", {"filters": filters}, size=100).json()
    assert [each["metadata"]["gw_id"] for each in page["items"]] == keys[::2]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"metadata": {"kind": "a"}}, ["x"]),
        ({"id": "y"}, ["y"]),
        ({"id": {"in": ["x", "z"]}}, ["x"]),
    ],
)
@pytest.mark.parametrize("kind", ["peers", "sessions"])
def test_peers_and_sessions(
    api: Api, kind: str, filters: dict[str, Any], expected: list[str]
) -> None:
    api.post(kind, {"id": "x", "metadata": {"kind": "a"}})
    api.post(kind, {"id": "y", "metadata": {"kind": "b"}})
    page = api.post(f"{kind}/list", {"filters": filters}).json()
    assert [each["id"] for each in page["items"]] == expected
