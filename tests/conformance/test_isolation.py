"""Nobody is shown what belongs to somebody else."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

from tests.conformance.api import Api, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from tests.conformance.embedded import Server


@pytest.fixture
def other(raw: httpx.Client) -> Iterator[Api]:
    """Another workspace of the same server."""
    made = Api(raw, f"conformance-{secrets.token_hex(6)}")
    yield made
    made.delete("sessions/s1")
    made.delete("")


def test_workspaces(api: Api, other: Api, server: Server) -> None:
    (mine,) = api.say("s1", ("ann", "I hid the canary here.")).json()
    (theirs,) = other.say("s1", ("ann", "I hid the parrot there.")).json()
    api.put("peers/ann/card", {"peer_card": ["canary"]})
    assert [
        each["id"] for each in other.post("sessions/s1/messages/list", {}).json()["items"]
    ] == [theirs["id"]]
    assert other.get(f"sessions/s1/messages/{mine['id']}").status_code == 404
    assert other.put(f"sessions/s1/messages/{mine['id']}", {"metadata": {}}).status_code == 404
    assert other.get("peers/ann/card").json() == {"peer_card": None}
    for path in ("search", "sessions/s1/search", "peers/ann/search"):
        found = [""]

        def visible(path: str = path, found: list[str] = found) -> bool:
            answer = other.post(path, {"query": "hid canary parrot"}).json()
            found[:] = [each["id"] for each in answer]
            return theirs["id"] in found

        assert eventually(visible, server.patience)
        assert found == [theirs["id"]]


def test_a_filter_cannot_leave_its_workspace(api: Api, other: Api) -> None:
    other.say("s1", ("ann", "parrot"))
    api.say("s1", ("ann", "canary"))
    for filters in (
        {"workspace_id": other.workspace},
        {"OR": [{"workspace_id": other.workspace}, {"peer_id": "ann"}]},
    ):
        listed = api.post("sessions/s1/messages/list", {"filters": filters}).json()
        assert "parrot" not in [each["content"] for each in listed["items"]]
        found = api.post("search", {"query": "parrot canary", "filters": filters}).json()
        assert "parrot" not in [each["content"] for each in found]


def test_sessions(api: Api, server: Server) -> None:
    (here,) = api.say("s1", ("ann", "I keep a canary.")).json()
    (there,) = api.say("s2", ("ann", "I keep a canary too.")).json()
    assert api.get(f"sessions/s2/messages/{here['id']}").status_code == 404

    def both() -> bool:
        found = api.post("search", {"query": "canary"}).json()
        return {each["id"] for each in found} == {here["id"], there["id"]}

    assert eventually(both, server.patience)
    found = api.post("sessions/s2/search", {"query": "canary"}).json()
    assert [each["id"] for each in found] == [there["id"]]
    context = api.get("sessions/s2/context").json()
    assert [each["id"] for each in context["messages"]] == [there["id"]]


def test_peers(api: Api, server: Server) -> None:
    api.say("s1", ("ann", "My canary sings."), ("bob", "My canary is mute."))

    def found(peer: str) -> list[str]:
        return [
            each["peer_id"]
            for each in api.post(f"peers/{peer}/search", {"query": "canary"}).json()
        ]

    assert eventually(lambda: found("ann") == ["ann"], server.patience)
    assert eventually(lambda: found("bob") == ["bob"], server.patience)


def test_conclusions_stay_in_their_workspace(api: Api, other: Api) -> None:
    for each in (api, other):
        each.post("peers", {"id": "ann"})
    made = {"content": "has a canary", "observer_id": "ann", "observed_id": "ann"}
    (mine,) = api.post("conclusions", {"conclusions": [made]}).json()
    assert other.post("conclusions/list").json()["total"] == 0
    assert other.delete(f"conclusions/{mine['id']}").status_code == 404
    filters = {"observer_id": "ann", "observed_id": "ann"}
    query = {"query": "canary", "filters": filters}
    assert other.post("conclusions/query", query).json() == []
    assert api.post("conclusions/list").json()["total"] == 1
