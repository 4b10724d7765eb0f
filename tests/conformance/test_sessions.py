"""Workspaces, peers and sessions: got or created, changed, joined, left, deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from honcho import ConflictError
from honcho.api_types import PeerConfig, SessionConfiguration, SessionPeerConfig

from tests.conformance.api import eventually

if TYPE_CHECKING:
    import honcho

    from tests.conformance.api import Api
    from tests.conformance.embedded import Server


def flags(api: Api, peer: str) -> dict[str, Any]:
    return dict(api.get(f"sessions/s1/peers/{peer}/config").json())


def members(api: Api) -> set[str]:
    return {each["id"] for each in api.get("sessions/s1/peers").json()["items"]}


# --- metadata replaces, configuration merges ---


@pytest.mark.parametrize("kind", ["peers", "sessions"])
def test_metadata_replaces(api: Api, kind: str) -> None:
    def metadata() -> Any:
        return api.post(kind, {"id": "x"}).json()["metadata"]

    api.post(kind, {"id": "x", "metadata": {"a": 1, "b": 2}})
    assert metadata() == {"a": 1, "b": 2}
    api.post(kind, {"id": "x", "metadata": {"c": 3}})
    assert metadata() == {"c": 3}
    api.put(f"{kind}/x", {"metadata": {"d": 4}})
    assert metadata() == {"d": 4}
    api.put(f"{kind}/x", {})
    assert metadata() == {"d": 4}
    api.post(kind, {"id": "x", "metadata": {}})
    assert metadata() == {}


def test_configuration_of_a_session_merges(api: Api) -> None:
    api.post("sessions", {"id": "s1", "configuration": {"reasoning": {"enabled": False}}})
    changed = api.put("sessions/s1", {"configuration": {"summary": {"enabled": False}}}).json()
    expected = {"reasoning": {"enabled": False}, "summary": {"enabled": False}}
    assert changed["configuration"] == expected
    assert api.post("sessions", {"id": "s1"}).json()["configuration"] == expected


def test_the_official_client_gets_and_changes(client: honcho.Honcho) -> None:
    ann = client.peer("ann", metadata={"a": 1}, configuration=PeerConfig(observe_me=False))
    assert (ann.get_metadata(), ann.get_configuration().observe_me) == ({"a": 1}, False)
    ann.set_metadata({"b": 2})
    assert client.peer("ann").metadata == {"b": 2}
    session = client.session("s1", configuration=SessionConfiguration(), metadata={"x": 1})
    session.set_metadata({"y": 2})
    assert session.get_metadata() == {"y": 2}
    client.set_metadata({"z": 3})
    assert client.get_metadata() == {"z": 3}
    assert [each.id for each in client.peers()] == ["ann"]
    assert [each.id for each in client.sessions()] == ["s1"]


def test_unknown_things_are_created_on_the_way(api: Api) -> None:
    assert api.say("new", ("ann", "x")).status_code == 201
    assert api.post("peers", {"id": "ann"}).status_code == 200
    assert api.post("sessions", {"id": "new"}).status_code == 200


# --- members ---


def test_flags_are_set_when_a_peer_joins(api: Api) -> None:
    peers = {"ann": {"observe_me": True, "observe_others": False}, "bot": {"observe_others": True}}
    api.post("sessions", {"id": "s1", "peers": peers})
    assert members(api) == {"ann", "bot"}
    assert flags(api, "ann") == {"observe_me": True, "observe_others": False}
    assert flags(api, "bot")["observe_others"] is True


def test_joining_again_changes_no_flags(api: Api) -> None:
    api.post("sessions", {"id": "s1", "peers": {"ann": {"observe_me": False}}})
    api.post("sessions/s1/peers", {"ann": {"observe_me": True}})
    api.post("sessions", {"id": "s1", "peers": {"ann": {"observe_me": True}}})
    api.say("s1", ("ann", "x"))
    assert flags(api, "ann")["observe_me"] is False


def test_flags_change_one_by_one(client: honcho.Honcho) -> None:
    session = client.session("s1", peers=[("ann", SessionPeerConfig(observe_me=False))])
    session.set_peer_configuration("ann", SessionPeerConfig(observe_others=True))
    found = session.get_peer_configuration("ann")
    assert (found.observe_me, found.observe_others) == (False, True)


def test_who_left_comes_back_without_flags(client: honcho.Honcho) -> None:
    session = client.session("s1", peers=[("ann", SessionPeerConfig(observe_me=False))])
    session.remove_peers("ann")
    assert session.peers() == []
    ann = client.peer("ann")
    session.add_messages(ann.message("back"))
    assert [each.id for each in session.peers()] == ["ann"]
    assert session.get_peer_configuration("ann").observe_me is None


def test_members_can_be_replaced(client: honcho.Honcho) -> None:
    session = client.session("s1", peers=["ann", "bob"])
    session.set_peers(["bob", ("cy", SessionPeerConfig(observe_others=True))])
    assert {each.id for each in session.peers()} == {"bob", "cy"}
    assert [each.id for each in client.peer("cy").sessions()] == ["s1"]


def test_ten_observers_at_most(api: Api) -> None:
    ten = {f"o{number}": {"observe_others": True} for number in range(10)}
    assert api.post("sessions", {"id": "s1", "peers": ten}).status_code == 201
    one_more = {"o10": {"observe_others": True}}
    assert api.post("sessions/s1/peers", one_more).status_code == 400
    assert members(api) == set(ten)
    api.post("sessions/s1/peers", {"o10": {}})
    assert api.put("sessions/s1/peers/o10/config", one_more["o10"]).status_code == 400
    assert api.post("sessions", {"id": "s2", "peers": {**ten, **one_more}}).status_code == 400


def test_unknown_members(api: Api) -> None:
    api.post("sessions", {"id": "s1"})
    assert api.get("sessions/s1/peers/nobody/config").status_code == 404
    assert api.put("sessions/s1/peers/nobody/config", {"observe_me": True}).status_code == 404
    assert api.put("sessions/nowhere/peers", {"ann": {}}).status_code == 404


# --- deleting ---


def test_a_deleted_session_is_gone(api: Api, server: Server) -> None:
    api.say("s1", ("ann", "I keep bees."))
    api.say("s2", ("ann", "I keep goats."))
    assert api.delete("sessions/s1").status_code == 202

    def left() -> list[str]:
        found = api.post("search", {"query": "keep bees goats"}).json()
        return [each["session_id"] for each in found]

    assert eventually(lambda: left() == ["s2"], server.patience)
    listed = api.post("sessions/s1/messages/list", {})
    assert listed.status_code == 404 or listed.json()["total"] == 0
    assert [each["id"] for each in api.post("sessions/list").json()["items"]] == ["s2"]
    again = api.post("sessions", {"id": "s1"})
    assert again.status_code == 404 or again.json()["metadata"] == {}
    assert api.post("sessions/s2/messages/list", {}).json()["total"] == 1


def test_a_workspace_needs_its_sessions_deleted_first(
    client: honcho.Honcho, api: Api, server: Server
) -> None:
    session = client.session("s1")
    with pytest.raises(ConflictError):
        client.delete_workspace(client.workspace_id)
    session.delete()
    assert eventually(lambda: api.delete("").status_code in (202, 404), server.patience)


def test_deleting_what_is_not_there(api: Api) -> None:
    api.post("peers", {"id": "ann"})
    assert api.delete("sessions/nowhere").status_code == 404
    assert api.delete("conclusions/nosuchconclusion").status_code == 404
