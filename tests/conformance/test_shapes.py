"""Every answer has the shape that the contract gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.schema import faults

if TYPE_CHECKING:
    import httpx

    from tests.conformance.api import Api


@pytest.fixture
def lived_in(api: Api) -> Api:
    """A workspace with two peers, a session and some messages."""
    api.post("peers", {"id": "ann", "metadata": {"city": "Porto"}})
    api.post("peers", {"id": "bot", "configuration": {"observe_me": False}})
    api.post("sessions", {"id": "s1", "peers": {"ann": {}, "bot": {"observe_others": True}}})
    api.say("s1", ("ann", "I moved to Porto."), ("bot", "Noted."))
    api.put("peers/ann/card", {"peer_card": ["lives in Porto"]})
    return api


@pytest.mark.parametrize(
    ("path", "body", "component"),
    [
        ("peers", {"id": "ann"}, "Peer"),
        ("peers/list", None, "Page_Peer_"),
        ("peers/ann/sessions", None, "Page_Session_"),
        ("peers/ann/representation", {}, "RepresentationResponse"),
        ("sessions", {"id": "s1"}, "Session"),
        ("sessions/list", {}, "Page_Session_"),
        ("sessions/s1/peers", {"ann": {}}, "Session"),
        ("sessions/s1/messages/list", {}, "Page_Message_"),
        ("conclusions/list", {}, "Page_Conclusion_"),
    ],
)
def test_posts(lived_in: Api, path: str, body: object, component: str) -> None:
    answer = lived_in.post(path, body)
    assert (answer.status_code, faults(component, answer.json())) == (200, [])


@pytest.mark.parametrize(
    ("path", "component"),
    [
        ("sessions/s1/peers", "Page_Peer_"),
        ("sessions/s1/peers/ann/config", "SessionPeerConfig"),
        ("sessions/s1/context", "SessionContext"),
        ("sessions/s1/context?peer_target=ann&peer_perspective=bot", "SessionContext"),
        ("sessions/s1/summaries", "SessionSummaries"),
        ("peers/ann/card", "PeerCardResponse"),
        ("peers/bot/card?target=ann", "PeerCardResponse"),
        ("peers/ann/context", "PeerContext"),
        ("queue/status", "QueueStatus"),
        ("queue/status?session_id=s1", "QueueStatus"),
    ],
)
def test_gets(lived_in: Api, path: str, component: str) -> None:
    answer = lived_in.get(path)
    assert (answer.status_code, faults(component, answer.json())) == (200, [])


def test_stored_messages(api: Api) -> None:
    answer = api.say("s1", ("ann", "one"), ("bot", ""))
    assert answer.status_code == 201
    assert [faults("Message", each) for each in answer.json()] == [[], []]
    first = answer.json()[0]
    again = api.get(f"sessions/s1/messages/{first['id']}").json()
    assert again == first
    assert (first["peer_id"], first["session_id"], first["content"]) == ("ann", "s1", "one")
    assert first["workspace_id"] == api.workspace


def test_a_workspace(raw: httpx.Client, workspace: str) -> None:
    created = raw.post("/v3/workspaces", json={"id": workspace, "metadata": {"a": 1}})
    assert (created.status_code, faults("Workspace", created.json())) == (201, [])
    changed = raw.put(f"/v3/workspaces/{workspace}", json={"metadata": {"b": 2}})
    assert (changed.status_code, faults("Workspace", changed.json())) == (200, [])
    assert changed.json()["metadata"] == {"b": 2}


def test_the_contract_is_looked_at() -> None:
    good = {"id": "w", "created_at": "2026-01-01T00:00:00Z", "metadata": {}}
    assert faults("Workspace", good) == []
    assert faults("Workspace", {**good, "id": 7}) == ["Workspace.id: int instead of string"]
    assert faults("Workspace", {"id": "w"}) == ["Workspace: created_at is missing"]
    assert faults("Workspace", {**good, "created_at": "2026-01-01T00:00:00"}) == [
        "Workspace.created_at: a time without its zone"
    ]
    page = {"items": [{"id": 1}], "total": 1, "page": 1, "size": 1, "pages": 1}
    assert "Page_Workspace_.items[0]: created_at is missing" in faults("Page_Workspace_", page)
